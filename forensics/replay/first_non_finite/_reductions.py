"""Where operations over many numbers leave the finite numbers, in words."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from forensics.replay.first_non_finite._numbers import numbers
from forensics.replay.first_non_finite._operators import Call

Rule = Callable[[Call], str]


def _mean(call: Call) -> str:
    values = call.tensor(0)
    return "the mean of an empty selection" if values is not None and not values.numel() else ""


def _variance(call: Call) -> str:
    values = call.tensor(0)
    if values is None or not values.numel():
        return "the variance of an empty selection"
    each = values.numel() // max(1, call.outputs[0].numel())
    return "the variance of a single value, which divides by 0" if each <= 1 else ""


def _softmax(call: Call) -> str:
    tensor, dim = call.tensor(0), call.arguments[1] if len(call.arguments) > 1 else -1
    values = numbers(tensor) if tensor is not None else None
    if values is None or not values.ndim:
        return ""
    dims = [d % values.ndim for d in (dim if isinstance(dim, list | tuple) else [dim])]
    masked = torch.isneginf(values)
    for d in dims:
        masked = masked.all(dim=d, keepdim=True)
    if bool(masked.any()):
        count = int(masked.sum())
        return f"fully masked: {count} of {masked.numel()} rows hold nothing but -inf"
    return "+inf among the logits" if bool(torch.isposinf(values).any()) else ""


def _attention(call: Call) -> str:
    query = call.tensor(0)
    masks = [t for t in call.inputs[3:] if query is not None and t.ndim >= 2]
    for mask in masks:
        values = numbers(mask)
        out = ~mask if values is None and mask.dtype is torch.bool else values
        if out is None:
            continue
        rows = (out if out.dtype is torch.bool else torch.isneginf(out)).all(dim=-1)
        if bool(rows.any()):
            return f"fully masked: {int(rows.sum())} of {rows.numel()} rows of the attention mask"
    return ""


def _class_loss(call: Call) -> str:
    """Of ``nll_loss_forward(self, target, weight, reduction, ignore_index)``."""
    labels = call.tensor(1)
    ignored = call.arguments[4] if len(call.arguments) > 4 else -100
    if labels is None or labels.is_floating_point():
        return ""
    if not labels.numel():
        return "the mean over no labels at all"
    if bool((labels == ignored).all()):
        return f"no label counts: all {labels.numel()} are {ignored}, the ignored label"
    weight = call.tensor(2)
    if weight is not None and bool((weight[labels[labels != ignored]] == 0).all()):
        return "no label counts: the weight of every class present is 0"
    scores = numbers(call.inputs[0])
    unlikely = scores is not None and bool(torch.isinf(scores).any())
    return "a label's class has probability 0" if unlikely else ""


def _alignment(call: Call) -> str:
    """Of ``_ctc_loss(log_probs, targets, input_lengths, target_lengths, ...)``."""
    lengths = [torch.as_tensor(call.arguments[i]) for i in (2, 3) if i < len(call.arguments)]
    if len(lengths) < 2 or lengths[0].shape != lengths[1].shape:
        return ""
    # Two equal labels in a row need a blank between them, so a length that fits may still fail.
    short = int((lengths[0] <= lengths[1]).sum())
    return f"targets too long for the outputs: {short} of {len(lengths[0])} samples" * bool(short)


def _normalisation(call: Call) -> str:
    """Of layer, group and batch normalisation: a variance of 0 without epsilon."""
    epsilon = next((a for a in reversed(call.arguments) if isinstance(a, float)), None)
    values = numbers(call.inputs[0]) if call.inputs else None
    if values is None or not values.numel():
        return "normalisation of an empty batch"
    if epsilon == 0 and _constant_somewhere(values):
        return "a variance of 0 with epsilon 0"
    largest = values.abs().max().item()
    return "" if values.dtype is torch.float16 else _square_overflow(values, largest)


def _direction(call: Call) -> str:
    """Of ``_weight_norm_interface(v, g, dim)``."""
    values = numbers(call.inputs[0])
    dim = call.arguments[2] if len(call.arguments) > 2 else 0
    if values is None or not values.ndim:
        return ""
    zero = (values.transpose(0, dim).flatten(1) == 0).all(dim=1)
    return f"weights of zero length have no direction: {int(zero.sum())} rows" * bool(zero.any())


def _constant_somewhere(values: Tensor) -> bool:
    channels = values.transpose(0, 1).flatten(1) if values.ndim > 1 else values[None]
    rows = values.flatten(0, -2) if values.ndim > 1 else values[None]
    return any(bool((x == x[:, :1]).all(dim=1).any()) for x in (channels, rows))


def _square_overflow(values: Tensor, largest: float) -> str:
    limit = float(torch.finfo(torch.float32).max) ** 0.5
    small = values.dtype in (torch.float32, torch.bfloat16)
    return f"the square of {largest:.3g} overflows float32" if small and largest > limit else ""


_NORMALISATIONS = (
    "native_layer_norm",
    "native_group_norm",
    "native_batch_norm",
    "_native_batch_norm_legit",
    "_batch_norm_with_update",
    "cudnn_batch_norm",
    "_fused_rms_norm",
)
_ATTENTIONS = (
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_fused_attention_overrideable",
)

REDUCTIONS: Mapping[str, Rule] = {
    "mean": _mean,
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), _variance),
    **dict.fromkeys(("_softmax", "_log_softmax", "_safe_softmax", "logsumexp"), _softmax),
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), _class_loss),
    "_ctc_loss": _alignment,
    "_weight_norm_interface": _direction,
    **dict.fromkeys(_NORMALISATIONS, _normalisation),
    **dict.fromkeys(_ATTENTIONS, _attention),
}
"""Name of an operator -> what about its arguments; '' where it can't be told."""
