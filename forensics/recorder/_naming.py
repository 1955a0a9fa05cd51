"""A batch of any nesting as tensors by name."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

Tensors = dict[str, torch.Tensor]

PAIR = ("x", "y")
"""Names of a batch that is a pair of inputs and targets; a single tensor is ``x``."""


def named_tensors(batch: Any, max_bytes: int) -> tuple[Tensors, list[str]]:
    """Copies on the CPU by name, and what was left out.

    Copies from a device are only begun: they are there once anything later of it was waited for.

    Args:
        batch: Tensors in any nesting of mappings and sequences.
        max_bytes: Tensors beyond this size, all together, are left out.
    """
    found: Tensors = {}
    left_out: list[str] = []
    size = 0
    for name, value in _leaves(batch, ""):
        tensor = _tensor(value)
        if tensor is None:
            left_out.append(f"{name}: {type(value).__name__} is no dense tensor")
        elif name in found:
            left_out.append(f"{name}: a second tensor of this name")
        elif size + tensor.nbytes > max_bytes:
            left_out.append(f"{name}: {tensor.nbytes:,} bytes are too many to hold")
        else:
            size += tensor.nbytes
            found[name] = _copy(tensor)
    return found, left_out


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """On the CPU, in memory of its own: the loop may fill the same buffer with the next batch."""
    form = torch.contiguous_format
    return tensor.detach().to("cpu", non_blocking=True, copy=True, memory_format=form)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, _below(path, str(key)))
    elif _nests(value):
        names = PAIR if not path and len(value) == 2 else map(str, range(len(value)))
        for name, inner in zip(names, value, strict=True):
            yield from _leaves(inner, _below(path, name))
    else:
        yield path or PAIR[0], value


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _nests(value: Any) -> bool:
    """True for a sequence that holds more than texts and numbers."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return False
    return any(isinstance(v, Mapping | list | tuple) or _tensor(v) is not None for v in value)


def _tensor(value: Any) -> torch.Tensor | None:
    """A dense tensor of the value, where it is one or an array of numbers."""
    if not isinstance(value, torch.Tensor):
        if type(value).__module__ != "numpy" or not hasattr(value, "dtype"):
            return None
        try:
            value = torch.as_tensor(value)
        except TypeError:  # of texts or objects
            return None
    odd = value.is_quantized or value.is_nested or value.is_meta or value.is_complex()
    return value if value.layout is torch.strided and not odd else None


def joined(parts: Sequence[Tensors]) -> Tensors:
    """The micro-batches of one step as one batch, or side by side where they do not fit."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if all(_fits(first, other) for other in parts):
        return {name: torch.cat([part[name] for part in parts]) for name in first}
    return {f"micro_{n}.{name}": t for n, part in enumerate(parts) for name, t in part.items()}


def _fits(one: Tensors, other: Tensors) -> bool:
    return one.keys() == other.keys() and all(
        t.ndim > 0 and t.shape[1:] == other[n].shape[1:] and t.dtype == other[n].dtype
        for n, t in one.items()
    )
