"""The order in which modules are usually built, for names that come without an order."""

import re
from collections.abc import Callable

from forensics.natural_order import natural_key

_Place = Callable[[str], tuple[object, ...]]
_FIRST_NORM = "ln_1 ln1 norm_1 norm1 input_layernorm attention_norm layernorm_before attn_norm"
_SECOND_NORM = (
    "ln_2 ln2 norm_2 norm2 norm_3 norm3 post_attention_layernorm ffn_norm layernorm_after mlp_norm "
    "pre_feedforward_layernorm post_feedforward_layernorm"
)
_ATTENTION = (
    "attention attn self_attn self_attention selfattention mixer conv*",
    "cross_attn encoder_attn crossattention encdecattention",
)
_FEED_FORWARD = "mlp ffn feed_forward intermediate block_sparse_moe experts layer_ff"
_PARTS = (
    "q q_proj query wq to_q q_lin query_key_value qkv c_attn in_proj* linear_qkv wqkv",
    "k k_proj key wk to_k k_lin",
    "v v_proj value wv to_v v_lin",
    "q_norm k_norm",
    "o o_proj out_proj wo dense to_out out_lin proj linear_proj output",
    "gate_proj gate w1 c_fc fc1 up_gate lin1 linear_fc1 dense_h_to_4h wi wi_0 linear1 fc_in",
    "up_proj w3 wi_1",
    "down_proj c_proj w2 fc2 lin2 linear_fc2 dense_4h_to_h linear2 fc_out",
)
_BEFORE = (
    "shared wte word_embeddings tok_embeddings embed_tokens embed_in patch_embed* cls_token conv1 "
    "conv_1 stem",
    "wpe position* pos_embed embed_positions",
    "token_type_embeddings embeddings embedding embed",
    "encoder backbone encoders model transformer",
    "decoder",
)
_AFTER = (
    "layer_norm layernorm norm ln_f final_layer_norm final_layernorm fc_norm post_layernorm "
    "ln_post self_attn_layer_norm",
    "pooler head lm_head embed_out classifier score fc cls qa_outputs output_layer predictions",
)
"""Words of a name, those of one line alike; a star stands for any ending."""
_USUAL = len(_BEFORE)
"""Where a word that is in no line stands: among the layers."""


def _by(*layer: str) -> _Place:
    """Sort key under which the words of a layer come in the given order, layers by number."""
    ranks: dict[str, int] = {}
    beginnings: dict[str, int] = {}
    for place, line in enumerate((*_BEFORE, *layer, *_PARTS, *_AFTER)):
        for word in line.split():
            known = beginnings if word.endswith("*") else ranks
            known.setdefault(word.rstrip("*"), place)

    def rank(word: str) -> int:
        if word == "weight":
            return -1  # before the bias
        found = ranks.get(word.lower())
        if found is None:
            starts = (
                place for start, place in beginnings.items() if word.lower().startswith(start)
            )
            found = next(starts, _USUAL)
        return found

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
