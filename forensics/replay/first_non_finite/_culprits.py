"""What about the arguments of an operation made its result non-finite, in words."""

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from forensics.replay.first_non_finite._domains import DOMAINS
from forensics.replay.first_non_finite._numbers import has_nan, numbers
from forensics.replay.first_non_finite._operators import Call
from forensics.replay.first_non_finite._places import Place
from forensics.replay.first_non_finite._reductions import REDUCTIONS
from forensics.replay_facts import Phase

_RULES: Mapping[str, Callable[[Call], str]] = {**DOMAINS, **REDUCTIONS}

_SLOPES: Mapping[str, str] = {
    "sqrt": "the slope of a square root at 0 is infinite",
    "pow": "the slope of a power below 1 at 0 is infinite",
    "acos": "the slope of acos at 1 and -1 is infinite",
    "asin": "the slope of asin at 1 and -1 is infinite",
    "acosh": "the slope of acosh at 1 is infinite",
    "atanh": "the slope of atanh at 1 and -1 is infinite",
    "hypot": "the length of (0, 0) has no slope",
    "linalg_vector_norm": "the norm of zeros has no slope",
    "_linalg_eigh": "eigenvectors have no slope where eigenvalues are equal",
    "_linalg_svd": "singular vectors have no slope where singular values are equal",
}
_LARGE = 1e15
"""Sums of products of numbers below it stay within float32 and bfloat16 (3.4e38)."""
_SUMS = frozenset({"add", "sub", "rsub", "sum", "cumsum", "addmm", "mm", "bmm", "baddbmm", "mean"})
_PRODUCTS = frozenset({"mul", "addmm", "mm", "bmm", "baddbmm", "addcmul", "dot", "mv", "prod"})


def culprit_of(call: Call, given: Sequence[Tensor], place: Place, loss_scale: float) -> str:
    """What made the result of a call non-finite; '' where it can't be told.

    Args:
        call: The operation and its arguments.
        given: The arguments that were not finite themselves (infinities written on purpose).
        place: Where it ran; in the backward pass the forward operation it belongs to.
        loss_scale: What the loss was multiplied by before the backward pass.
    """
    found = _by_rule(call)
    if found and place.phase is Phase.BACKWARD:
        return _of_slope(found, place.operation)
    if found:
        return found
    if given or call.named:
        return _of_infinities(call)
    return _overflow(call, loss_scale if place.phase is Phase.BACKWARD else 1.0)


def _by_rule(call: Call) -> str:
    rule = _RULES.get(call.operator.name.removesuffix("_"))
    try:
        return rule(call) if rule else ""
    except (RuntimeError, IndexError, TypeError):
        return ""  # an unusual kind of tensor: the operation is named all the same


def _of_slope(found: str, operation: str) -> str:
    slope = _SLOPES.get(operation.removesuffix("_"))
    if slope:
        return f"{slope} ({found})"
    if operation.removesuffix("_") in DOMAINS:
        return f"{found}, in the derivative: masking the result afterwards does not keep it out"
    return f"{found}, in the derivative"


def _of_infinities(call: Call) -> str:
    if any(map(math.isnan, call.named)):
        return "a NaN that was written on purpose"
    name = call.operator.name.removesuffix("_")
    zeros = [bool((v == 0).any()) for v in map(numbers, call.inputs) if v is not None]
    plain_zero = any(v == 0 for v in call.arguments if isinstance(v, int | float))
    if name in _PRODUCTS and (plain_zero or any(zeros)):
        return "0 times an infinity that was written on purpose"
    if name in _SUMS and any(map(has_nan, call.outputs)):
        return "infinity minus infinity"
    return "an infinity that was written on purpose"


def _overflow(call: Call, loss_scale: float) -> str:
    floating = [t for t in call.outputs if t.is_floating_point()]
    narrow = [t for t in floating if torch.finfo(t.dtype).max < 1e6]
    if not floating or any(map(has_nan, floating)):
        return ""
    if not narrow and _largest(call) < _LARGE:
        return ""
    dtype = (narrow or floating)[0].dtype
    most = torch.finfo(dtype).max
    limit = f"{most:.0f}" if most < 1e6 else f"{most:.2g}"
    scaled = f"the gradient of the loss times {loss_scale:g}" if loss_scale != 1 else "the result"
    return f"{scaled} is beyond {limit}, the largest {str(dtype).removeprefix('torch.')}"


def _largest(call: Call) -> float:
    plain = [abs(v) for v in call.arguments if isinstance(v, float)]
    tensors = [v for v in map(numbers, call.inputs) if v is not None and v.numel()]
    return max([*plain, *(v.abs().max().item() for v in tensors)], default=0.0)
