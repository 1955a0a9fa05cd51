"""What a tensor is to the training, by the names that frameworks give it."""

from collections.abc import Container

from forensics.checkpoints._base import DType, Role, StoredTensor

_BUFFERS = frozenset(
    {
        *("running_mean", "running_var", "num_batches_tracked", "moving_mean", "moving_variance"),
        *("inv_freq", "original_inv_freq", "freqs_cis", "freqs_cos", "freqs_sin", "cos_cached"),
        *("sin_cached", "position_ids", "token_type_ids", "masked_bias", "causal_mask"),
        *("attn_mask", "relative_position_index", "relative_coords_table", "_extra_state"),
        *("n_averaged", "expert_bias"),
    }
)
_CAUSAL_MASKS = ("attn.bias", "attention.bias")
"""Of old GPT models: four dimensions, where a bias has one."""
_FIRST = ("exp_avg", "state1", "momentum_buffer", "exp_avg_slow", "m", "mu", "momentum")
_SECOND = ("exp_avg_sq", "state2", "square_avg", "v", "nu", "velocity")
_MASTER = ("fp32_param", "master_param", "master", "fp32", "param")
_AVERAGES = ("square_avg", "exp_avg")
"""Beside one of these, a momentum buffer is a second first moment."""


def role_in_model(name: str, tensor: StoredTensor) -> Role:
    """Parameter or buffer, by the name in a state dict."""
    last = name.replace("/", ".").rpartition(".")[2]
    if last in _BUFFERS or (name.endswith(_CAUSAL_MASKS) and len(tensor.shape) == 4):
        return Role.BUFFER
    counts = not tensor.dtype.is_floating and tensor.dtype is not DType.OTHER
    return Role.BUFFER if counts and "weight" not in name else Role.PARAM


def role_in_optimizer(slot: str, beside: Container[str]) -> Role:
    """Role of one slot of a parameter's state, given the slots beside it."""
    if slot in _FIRST:
        if slot == "momentum_buffer" and any(average in beside for average in _AVERAGES):
            return Role.OTHER
        return Role.EXP_AVG
    if slot in _SECOND:
        return Role.EXP_AVG_SQ
    return Role.MASTER if slot in _MASTER else Role.OTHER
