"""Whole modules that were pickled, as far as they hold tensors."""

from collections.abc import Iterator
from typing import Any

from forensics.checkpoints._base import Parameter, Role, StoredTensor
from forensics.inert_pickle import Inert

MAX_MODULES = 100_000
MAX_DEPTH = 64
_MARKS = ("_parameters", "_buffers", "_modules")


def is_module(value: Any) -> bool:
    """True for what would have been a ``torch.nn.Module``."""
    state = value.state if isinstance(value, Inert) else None
    return isinstance(state, dict) and all(isinstance(state.get(m), dict) for m in _MARKS)


def named_tensors(module: Any) -> Iterator[tuple[tuple[str, ...], StoredTensor, Role]]:
    """(path of names, tensor, role) in the order of construction.

    A module that is used at several places is given where it is first met.
    """
    pending: list[tuple[tuple[str, ...], Any]] = [((), module)]
    seen: set[int] = set()
    while pending and len(seen) < MAX_MODULES:
        path, one = pending.pop()
        if not is_module(one) or id(one) in seen or len(path) > MAX_DEPTH:
            continue
        seen.add(id(one))
        state = one.state
        for mark, role in (("_parameters", Role.PARAM), ("_buffers", Role.BUFFER)):
            for name, held in state[mark].items():
                tensor = held.tensor if isinstance(held, Parameter) else held
                if isinstance(tensor, StoredTensor):
                    yield (*path, str(name)), tensor, role
        children = [((*path, str(name)), child) for name, child in state["_modules"].items()]
        pending.extend(reversed(children))
