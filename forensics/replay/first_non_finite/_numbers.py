"""Tensors of any layout as plain numbers: whether they are finite, and how a report words them."""

import math

import torch
from torch import Tensor

_COMPRESSED = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)
_HALVES = (torch.float16, torch.bfloat16)


def numbers(tensor: Tensor) -> Tensor | None:
    """The real floating-point numbers a tensor holds, strided; None where it holds none.

    Sparse tensors give their stored values, complex ones pairs (..., 2), sharded ones the part on
    this rank.
    """
    part = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    if part.device.type == "meta" or not (part.is_floating_point() or part.is_complex()):
        return None
    if part.layout is torch.sparse_coo:
        part = part._values()
    elif part.is_nested:
        part = part.values()
    elif part.layout is not torch.strided:
        part = part.values() if part.layout in _COMPRESSED else part.to_dense()
    if part.is_complex():
        part = torch.view_as_real(part.resolve_conj())
    return part.detach()


def all_finite(values: Tensor) -> bool:
    """Whether every number is finite.

    A sum is several times faster than a test of each element, and no NaN or infinity gets lost in
    it; where the sum itself overflows, the elements decide.
    """
    values = _readable(values)
    if not values.numel() or math.isfinite(values.sum().item()):
        return True
    if values.dtype in _HALVES and math.isfinite(values.sum(dtype=torch.float32).item()):
        return True
    return bool(torch.isfinite(values).all())


def is_bad(tensor: Tensor) -> bool:
    """Whether a tensor holds a NaN or an infinity."""
    values = numbers(tensor)
    return values is not None and not all_finite(values)


def has_nan(tensor: Tensor) -> bool:
    """Whether a tensor holds a NaN."""
    values = numbers(tensor)
    return values is not None and bool(torch.isnan(_readable(values)).any())


def mask_like(values: Tensor) -> bool:
    """Whether infinities stand for 'not this one': all of one sign beside one finite value."""
    if bool(torch.isnan(values).any()):
        return False
    finite = values[torch.isfinite(values)]
    infinite = values[torch.isinf(values)]
    one_sign = bool((infinite > 0).all() or (infinite < 0).all())
    return one_sign and (not finite.numel() or bool((finite == finite[0]).all()))


def describe(tensor: Tensor) -> str:
    """Dtype, shape and range of a tensor in one phrase, with the share that is not finite."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    shape = "scalar" if tensor.ndim == 0 else f"({', '.join(map(str, tensor.shape))})"
    return f"{dtype} {shape}, {_range(tensor)}"


def bad_share(values: Tensor) -> str:
    """How many numbers are NaN and infinite, such as ``3 of 40 values NaN``; '' where none is."""
    counts = {"NaN": torch.isnan(values), "infinite": torch.isinf(values)}
    found = {word: int(flags.sum()) for word, flags in counts.items()}
    parts = [f"{count} of {values.numel()} values {word}" for word, count in found.items() if count]
    return " and ".join(parts)


def _readable(values: Tensor) -> Tensor:
    """The same numbers in a type torch can reduce: 8-bit floats have no sum."""
    return values.to(torch.float32) if values.element_size() == 1 else values


def _range(tensor: Tensor) -> str:
    if tensor.dtype is torch.bool and tensor.layout is torch.strided:
        return f"{int(tensor.sum())} of {tensor.numel()} true"
    values = numbers(tensor)
    if values is None:
        whole = not tensor.is_quantized and tensor.layout is torch.strided
        return _whole_range(tensor) if whole and tensor.device.type != "meta" else "not read"
    values = _readable(values)
    finite = values[torch.isfinite(values)]
    if not values.numel():
        return "no elements"
    ends = [finite.min().item() + 0.0, finite.max().item() + 0.0] if finite.numel() else []
    parts = [" to ".join(f"{end:.4g}" for end in ends)] if ends else []  # + 0.0: no minus zero
    return ", ".join([*parts, *filter(None, [bad_share(values)])])


def _whole_range(tensor: Tensor) -> str:
    if not tensor.numel():
        return "no elements"
    return f"{int(tensor.min())} to {int(tensor.max())}"
