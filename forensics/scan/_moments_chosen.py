"""Which tensors of a checkpoint are looked at, how much of them, and which of two are the same."""

import re
from collections.abc import Mapping, Sequence

from forensics.checkpoints import Opened, Role, StoredTensor
from forensics.scan._moments_values import BLOCK, is_readable

BUDGET = 1 << 23
"""Elements of each role read of one checkpoint; beyond, evenly spaced stretches stand for all."""
_COPY = re.compile(r"(?:^|[._/])(?:\w*ema|ema\w*|shadow|teacher|target\w*)[._/]", re.IGNORECASE)
"""Averages of the weights and networks that follow another: no optimizer updates these."""


def most_of(tensors: Sequence[StoredTensor]) -> int:
    """Elements of one tensor to read, so that all together keep to the budget."""
    if sum(tensor.size for tensor in tensors) <= BUDGET:
        return BUDGET
    return max(2 * BLOCK, BUDGET // len(tensors))


def by_name(opened: Opened, *roles: Role) -> dict[str, StoredTensor]:
    """Readable tensors of the model, tied ones once, of several ranks the first."""
    seen: set[str] = set()
    named: dict[str, StoredTensor] = {}
    for tensor in opened.tensors:
        fresh = tensor.name not in named and (not tensor.storage or tensor.storage not in seen)
        own = tensor.role in roles and not _COPY.search(tensor.name)
        if own and fresh and tensor.size and is_readable(tensor):
            named[tensor.name] = tensor
            seen.add(tensor.storage)
    return named


def alike(
    old: Mapping[str, StoredTensor], new: Mapping[str, StoredTensor]
) -> list[tuple[StoredTensor, StoredTensor]]:
    """Tensors of the same name, type and shape."""
    both = [(old[name], tensor) for name, tensor in new.items() if name in old]
    return [(a, b) for a, b in both if a.dtype is b.dtype and a.shape == b.shape]


def updates_between(earlier: Opened, later: Opened, name: str, steps: int) -> float | None:
    """Updates of a parameter between the two; None where its counter went back."""
    a, b = earlier.state.optimizer_steps.get(name), later.state.optimizer_steps.get(name)
    counted = float(steps) if a is None or b is None else b - a
    return counted if counted > 0 and steps > 0 else None
