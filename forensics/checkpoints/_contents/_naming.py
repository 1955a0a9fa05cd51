"""Gives the state of optimizers the names of the parameters it belongs to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.checkpoints._base import Key, Role, StoredTensor
from forensics.checkpoints._contents._parts import Model, OptimizerState
from forensics.checkpoints._param_names import Candidate, Match, bare, bare_names, match

_SHAPED = ("exp_avg", "exp_avg_sq", "momentum_buffer", "square_avg", "state1", "fp32_param", "sum")
"""Slots of the shape of their parameter."""


@dataclass(frozen=True)
class Naming:
    """Names of the parameters of one optimizer."""

    names: Mapping[Key, str]
    unknown: int = 0
    """Parameters with state for which no name was found."""
    ambiguous: tuple[str, ...] = ()
    """Names that could as well be exchanged with others of the same shape."""


def name_optimizers(optimizers: Sequence[OptimizerState], models: Sequence[Model]) -> list[Naming]:
    """Find the name of each parameter; one that has none is called after its number.

    Args:
        optimizers: All of the save.
        models: Models of the save, the trained one first.
    """
    many = len(optimizers) > 1
    shared = _matched_together(optimizers, models) if many else None
    return [
        _named(optimizer, models, None if shared is None else shared[place], many=many)
        for place, optimizer in enumerate(optimizers)
    ]


def _named(
    optimizer: OptimizerState, models: Sequence[Model], found: Match | None, *, many: bool
) -> Naming:
    own = _own_names(optimizer)
    if own:
        found = Match(_spelled(own, models))
    elif found is None:
        found = _matched(optimizer, models)
    label = optimizer.label.replace(".", "_") if many else "optimizer"
    names: dict[Key, str] = {key: f"{label}.{key}" for key in optimizer.slots}
    names.update(found.names)
    unknown = sum(key not in found.names for key in optimizer.slots)
    return Naming(names, unknown, tuple(found.names[key] for key in found.ambiguous))


def _own_names(optimizer: OptimizerState) -> dict[Key, str]:
    """Names that the optimizer holds itself."""
    named: dict[Key, str] = {}
    for group in optimizer.groups:
        if len(group.names) == len(group.params):
            named.update(zip(group.params, group.names, strict=True))
    named.update({key: key for key in optimizer.slots if isinstance(key, str)})
    return named


def _spelled(names: Mapping[Key, str], models: Sequence[Model]) -> dict[Key, str]:
    """The same names as the model of the save spells them."""
    spelling = bare_names(models[0].tensors) if models else {}
    return {key: spelling.get(bare(name), name) for key, name in names.items()}


def _matched(optimizer: OptimizerState, models: Sequence[Model]) -> Match:
    groups = [group.params for group in optimizer.groups]
    shapes = {key: shape for key, slots in optimizer.slots.items() if (shape := _shape(slots))}
    for choice in _choices(optimizer.label, models):
        candidates = list(_candidates(choice))
        ordered = all(model.ordered for model in choice)
        found = match(groups, shapes, candidates, ordered=ordered)
        if found is not None:
            return found
    return Match({})


def _matched_together(
    optimizers: Sequence[OptimizerState], models: Sequence[Model]
) -> list[Match] | None:
    """Several optimizers that share one model between them, in consecutive parts."""
    for model in models:
        groups: list[list[Key]] = []
        shapes: dict[Key, tuple[int, ...]] = {}
        for place, optimizer in enumerate(optimizers):
            groups += [[f"{place}:{key}" for key in group.params] for group in optimizer.groups]
            shapes |= {f"{place}:{k}": s for k, v in optimizer.slots.items() if (s := _shape(v))}
        candidates = list(_candidates([model]))
        if sum(map(len, groups)) != len(candidates):
            continue
        found = match(groups, shapes, candidates, ordered=model.ordered)
        if found is not None and len(found.names) == len(candidates):
            return [_part(found, place, one) for place, one in enumerate(optimizers)]
    return None


def _part(found: Match, place: int, optimizer: OptimizerState) -> Match:
    keys = {f"{place}:{key}": key for group in optimizer.groups for key in group.params}
    names = {own: found.names[key] for key, own in keys.items() if key in found.names}
    return Match(names, tuple(keys[str(k)] for k in found.ambiguous if k in keys))


def _shape(slots: Mapping[str, Any]) -> tuple[int, ...] | None:
    for slot in _SHAPED:
        tensor = slots.get(slot)
        if isinstance(tensor, StoredTensor):
            return tensor.shape
    return None


def _choices(label: str, models: Sequence[Model]) -> Iterator[tuple[Model, ...]]:
    """Models that the optimizer may be of, the likeliest first; at last all of them together."""
    alike = [m for m in models if m.label and _resemble(label, m.label)]
    for model in (*alike, *(m for m in models if m not in alike)):
        yield (model,)
    if len(models) > 1:
        yield tuple(models)


def _resemble(label: str, other: str) -> bool:
    """True for ``optimizer_d`` and ``netD``, ``opt_gen`` and ``generator``."""
    tail = label.lower().removeprefix("optimizer").removeprefix("optim").removeprefix("opt")
    tail = tail.strip("_.0123456789")
    name = other.lower().removeprefix("net").removeprefix("model").strip("_.")
    return bool(tail and name) and (name.startswith(tail) or tail.startswith(name))


def _candidates(models: Sequence[Model]) -> Iterator[Candidate]:
    """Trainable tensors, those that share their bytes once."""
    seen: set[str] = set()
    for model in models:
        for name, tensor in model.tensors.items():
            if tensor.role is not Role.PARAM or not tensor.dtype.is_floating:
                continue
            if tensor.storage and tensor.storage in seen:
                continue
            seen.add(tensor.storage)
            yield Candidate(f"{model.label}.{name}" if model.label else name, tensor.shape)
