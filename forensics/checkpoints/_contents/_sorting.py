"""Sorts what a save holds into models, optimizers and the state of training.

A save is a tree of dicts and lists, shaped as its author liked. Optimizers, schedulers and
scalers are known by their own keys; all other tensors are named by their path, and those under
one key of the save make one model.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from forensics.checkpoints._base import Parameter, Role, StoredTensor
from forensics.checkpoints._contents._masters import KEYS as MASTER_KEYS
from forensics.checkpoints._contents._models import Found, as_models
from forensics.checkpoints._contents._modules import is_module, named_tensors
from forensics.checkpoints._contents._optimizer import is_optimizer, read_optimizer
from forensics.checkpoints._contents._parts import OptimizerState, Parts
from forensics.checkpoints._contents._progress import (
    is_scaler,
    is_scaler_object,
    is_scheduler,
    read_progress,
)
from forensics.inert_pickle import Inert, plain

MAX_DEPTH = 40
MAX_VALUES = 2_000_000


def sort_out(root: Any, *, ordered: bool = True) -> Parts:
    """Sort the object of a save.

    Args:
        root: As read: dicts, lists, numbers, inert objects, and `StoredTensor` for tensors.
        ordered: False where the format has lost the order in which the tensors were saved.
    """
    bins = _Bins()
    _visit(root, (), {}, bins)
    models, others = as_models(bins.tensors, ordered=ordered)
    progress = read_progress(root)
    state = replace(progress, scheduler=bins.scheduler, scaler=bins.scaler)
    return Parts(models, tuple(bins.optimizers), (*others, *bins.scales), state)


@dataclass
class _Bins:
    """What was found so far."""

    tensors: list[Found] = field(default_factory=list)
    optimizers: list[OptimizerState] = field(default_factory=list)
    scales: list[StoredTensor] = field(default_factory=list)
    scheduler: Mapping[str, Any] = field(default_factory=dict)
    scaler: Mapping[str, Any] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    """Containers that were visited: one that holds itself is not entered again."""
    left: int = MAX_VALUES


def _visit(value: Any, path: tuple[str, ...], around: Mapping[Any, Any], bins: _Bins) -> None:
    bins.left -= 1
    if isinstance(value, (StoredTensor, Parameter)):
        bins.tensors.append(_found(value, path))
        return
    if not isinstance(value, (dict, list, tuple, Inert)):
        return
    if id(value) in bins.seen or bins.left < 0 or len(path) > MAX_DEPTH:
        return
    bins.seen.add(id(value))
    if _take_state(value, path, around, bins):
        return
    taken = _taken_masters(value) if isinstance(value, dict) else ()
    for name, child in _children(value):
        if name not in taken:
            _visit(child, (*path, name), value if isinstance(value, dict) else around, bins)


def _found(value: StoredTensor | Parameter, path: tuple[str, ...]) -> Found:
    if isinstance(value, Parameter):
        return Found(path, value.tensor, Role.PARAM)
    return Found(path, value)


def _take_state(value: Any, path: tuple[str, ...], around: Mapping[Any, Any], bins: _Bins) -> bool:
    """Put the value in its bin, if it is a whole that is known; True if it was."""
    key = path[-1] if path else ""
    if is_module(value):
        bins.tensors.extend(
            Found((*path, ".".join(names)), t, r) for names, t, r in named_tensors(value)
        )
    elif is_optimizer(value):
        bins.optimizers.append(read_optimizer(value, ".".join(path), around))
    elif is_scaler(value) or is_scaler_object(value):
        _take_scaler(value.state if isinstance(value, Inert) else value, bins)
    elif is_scheduler(value, key):
        bins.scheduler = bins.scheduler or plain(value)
    else:
        return False
    return True


def _taken_masters(value: Mapping[Any, Any]) -> tuple[str, ...]:
    """Keys of float32 copies that go with the state of the optimizer beside them."""
    if not any(key in value for key in MASTER_KEYS):
        return ()
    optimizers = [read_optimizer(v, "", value) for v in value.values() if is_optimizer(v)]
    slots = [held for optimizer in optimizers for held in optimizer.slots.values()]
    return MASTER_KEYS if any("fp32_param" in held for held in slots) else ()


def _take_scaler(value: Mapping[Any, Any], bins: _Bins) -> None:
    bins.scaler = bins.scaler or {
        str(k): v if isinstance(v, StoredTensor) else plain(v) for k, v in value.items()
    }
    bins.scales.extend(
        replace(held, name=str(name), role=Role.SCALER)
        for name, held in value.items()
        if isinstance(held, StoredTensor)
    )


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((_name(key), child) for key, child in value.items())
    elif isinstance(value, Inert):
        yield from _children(value.args)
        yield from _children(value.items)
        yield from _children(value.elements)
        yield from _children(value.state)
    elif isinstance(value, (list, tuple)):
        yield from ((str(index), child) for index, child in enumerate(value))


def _name(key: Any) -> str:
    return str(key) if isinstance(key, (str, int, bool)) else getattr(key, "name", "?")
