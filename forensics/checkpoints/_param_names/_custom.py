"""The order in which modules are usually built, for names that come without an order."""

import re
from collections.abc import Callable

from forensics.tree import natural_key

_Place = Callable[[str], tuple[object, ...]]
_FIRST_NORM = r"ln_?1|norm_?1|input_layernorm|attention_norm|layernorm_before|attn_norm"
_SECOND_NORM = (
    r"ln_?2|norm_?[23]|post_attention_layernorm|ffn_norm|layernorm_after|mlp_norm|"
    r"pre_feedforward_layernorm|post_feedforward_layernorm"
)
_ATTENTION = (
    r"attention|attn|self_attn|self_attention|selfattention|mixer|conv\w*",
    r"cross_attn|encoder_attn|crossattention|encdecattention",
)
_FEED_FORWARD = r"mlp|ffn|feed_forward|intermediate|block_sparse_moe|experts|layer_ff"
_PARTS = (
    r"q|q_proj|query|wq|to_q|q_lin|query_key_value|qkv|c_attn|in_proj\w*|linear_qkv|wqkv",
    r"k|k_proj|key|wk|to_k|k_lin",
    r"v|v_proj|value|wv|to_v|v_lin",
    r"q_norm|k_norm",
    r"o|o_proj|out_proj|wo|dense|to_out|out_lin|proj|linear_proj|output",
    r"gate_proj|gate|w1|c_fc|fc1|up_gate|lin1|linear_fc1|dense_h_to_4h|wi|wi_0|linear1|fc_in",
    r"up_proj|w3|wi_1",
    r"down_proj|c_proj|w2|fc2|lin2|linear_fc2|dense_4h_to_h|linear2|fc_out",
)
_BEFORE = (
    r"shared|wte|word_embeddings|tok_embeddings|embed_tokens|patch_embed\w*|cls_token|conv_?1|stem",
    r"wpe|position\w*|pos_embed|embed_positions",
    r"token_type_embeddings|embed(?!_out)\w*",
    r"encoder|backbone|encoders|model|transformer",
    r"decoder",
)
_AFTER = (
    r"layer_?norm|norm|ln_f|final_layer_?norm|fc_norm|post_layernorm|ln_post|self_attn_layer_norm",
    r"pooler|head|lm_head|embed_out|classifier|score|fc|cls|qa_outputs|output_layer|predictions",
)
_USUAL = len(_BEFORE)
"""Where a word that is in no line stands: among the layers."""


def _by(*layer: str) -> _Place:
    """Sort key under which the words of a layer come in the given order, layers by number."""
    lines = (*_BEFORE, *layer, *_PARTS, *_AFTER)
    ranks = tuple(re.compile(words, re.IGNORECASE) for words in lines)

    def rank(word: str) -> int:
        if word == "weight":
            return -1  # before the bias
        found = (place for place, words in enumerate(ranks) if words.fullmatch(word))
        return _USUAL if word.isdecimal() else next(found, _USUAL)

    return lambda name: tuple((rank(part), natural_key(part)) for part in name.split("."))


ORDERS: tuple[_Place, ...] = (
    _by(*_ATTENTION, _FEED_FORWARD, _FIRST_NORM, _SECOND_NORM),  # LLaMA, BERT
    _by(_FIRST_NORM, *_ATTENTION, _SECOND_NORM, _FEED_FORWARD),  # GPT-2, ViT of timm
    _by(_FIRST_NORM, _SECOND_NORM, *_ATTENTION, _FEED_FORWARD),  # GPT-NeoX
)
"""Orders in which the modules of a layer are built, the most usual first."""

usual_place = ORDERS[0]


def without_numbers(name: str) -> str:
    """The name, alike for the same part of every layer."""
    return re.sub(r"\d+", "*", name)
