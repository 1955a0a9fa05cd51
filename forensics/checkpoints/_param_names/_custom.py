"""The order in which modules are usually built, for names that come without an order."""

import re

from forensics.tree import natural_key

_EARLY_TO_LATE = (
    r"shared|embed\w*|wte|word_embeddings|tok_embeddings|patch_embed|cls_token|conv_?1|stem",
    r"wpe|position\w*|pos_embed|token_type_embeddings",
    r"encoder|backbone|encoders|model|transformer",
    r"decoder",
    r"attention|attn|self_attn|self_attention|selfattention|mixer|conv\w*",
    r"ln_1",
    r"cross_attn|encoder_attn|crossattention|encdecattention",
    r"q|q_proj|query|wq|to_q|q_lin|query_key_value|qkv|c_attn|in_proj\w*|linear_qkv|wqkv",
    r"k|k_proj|key|wk|to_k|k_lin",
    r"v|v_proj|value|wv|to_v|v_lin",
    r"o|o_proj|out_proj|wo|dense|to_out|out_lin|proj|linear_proj|output",
    r"mlp|ffn|feed_forward|intermediate|block_sparse_moe|experts|layer_ff",
    r"gate_proj|gate|w1|c_fc|fc1|up_gate|lin1|linear_fc1|dense_h_to_4h|wi|wi_0|linear1|fc_in",
    r"up_proj|w3|wi_1",
    r"down_proj|w2|fc2|lin2|linear_fc2|dense_4h_to_h|linear2|fc_out",
    r"input_layernorm|norm1|attention_norm|ln1",
    r"ln_2|norm2|ffn_norm|ln2|post_attention_layernorm|pre_feedforward_layernorm|norm3",
    r"layer_?norm|norm|ln_f|final_layernorm|final_layer_norm|fc_norm|post_layernorm",
    r"pooler|head|lm_head|classifier|score|fc|cls|qa_outputs|output_layer|lm_head_weight",
)
_RANKS = tuple(re.compile(words, re.IGNORECASE) for words in _EARLY_TO_LATE)
_USUAL = 5
"""Where a word that is in no line stands: among the layers."""


def usual_place(name: str) -> tuple[object, ...]:
    """Sort key: words of a layer in the order of its construction, layers by their number."""
    return tuple((_rank(part), natural_key(part)) for part in name.split("."))


def _rank(word: str) -> int:
    if word == "weight":
        return -1  # before the bias
    if word.isdecimal():
        return _USUAL
    found = (rank for rank, words in enumerate(_RANKS) if words.fullmatch(word))
    return next(found, _USUAL)


def without_numbers(name: str) -> str:
    """The name, alike for the same part of every layer."""
    return re.sub(r"\d+", "*", name)
