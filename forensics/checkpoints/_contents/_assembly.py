"""Puts the parts of a save together: one list of named tensors, one state of training."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.checkpoints._base import Key, Opened, Role, StoredTensor, TrainingState
from forensics.checkpoints._contents._parts import Model, OptimizerState, Parts
from forensics.checkpoints._contents._quantised import combined
from forensics.checkpoints._contents._roles import role_in_optimizer
from forensics.checkpoints._numbers import read_numbers
from forensics.found import Note

if TYPE_CHECKING:
    from forensics.checkpoints._contents._naming import Naming


@dataclass(frozen=True, eq=False)
class Assembled:
    """A whole save."""

    tensors: tuple[StoredTensor, ...]
    state: TrainingState
    remarks: tuple[str, ...] = ()
    """What could not be told, each a sentence about the checkpoint."""


def opened(path: Path, kind: str, parts: Iterable[Parts], notes: Iterable[Note] = ()) -> Opened:
    """The checkpoint at ``path``, put together from the parts that its files hold."""
    whole = assemble(parts)
    remarks = [Note(remark, str(path)) for remark in whole.remarks]
    return Opened(str(path), kind, whole.tensors, whole.state, (*notes, *remarks))


def assemble(parts: Iterable[Parts]) -> Assembled:
    """Join parts; the models of earlier ones come first."""
    every = list(parts)
    models = [model for part in every for model in part.models]
    optimizers = [optimizer for part in every for optimizer in part.optimizers]
    tensors = [
        replace(tensor, name=f"{model.label}.{name}") if model.label else tensor
        for model in models
        for name, tensor in model.tensors.items()
    ]
    namings = _namings(optimizers, models)
    for optimizer, naming in zip(optimizers, namings, strict=True):
        tensors.extend(_slot_tensors(optimizer, naming))
    tensors.extend(tensor for part in every for tensor in part.others)
    state = _joined([part.state for part in every])
    return Assembled(
        tuple(tensors), _with_optimizers(state, optimizers, namings), tuple(_remarks(namings))
    )


def _namings(optimizers: Sequence[OptimizerState], models: Sequence[Model]) -> "list[Naming]":
    if not optimizers:
        return []  # most saves: what matches names is not even loaded
    from forensics.checkpoints._contents._naming import name_optimizers

    return name_optimizers(optimizers, models)


def _slot_tensors(optimizer: OptimizerState, naming: "Naming") -> Iterator[StoredTensor]:
    for key, slots in optimizer.slots.items():
        name = naming.names[key]
        for slot, held in combined(slots).items():
            if not isinstance(held, StoredTensor) or (slot == "step" and held.size == 1):
                continue
            role = role_in_optimizer(slot, slots)
            own = f"{name}.{slot}" if role is Role.OTHER else name
            if held.rank is not None:  # one of several ranks' copies, kept apart by their key
                own = own.removesuffix(f"@{held.rank}")
            yield replace(held, name=own, role=role)


def _remarks(namings: "Sequence[Naming]") -> Iterator[str]:
    unknown = sum(naming.unknown for naming in namings)
    ambiguous = [name for naming in namings for name in naming.ambiguous]
    if unknown:
        yield (
            f"{unknown:,} entries of the optimizer have no known parameter; "
            "they are called after their numbers"
        )
    if ambiguous:
        yield (
            f"the parameters of {len(ambiguous):,} entries of the optimizer are ambiguous, for "
            f"several share a shape ({', '.join(ambiguous[:2])}, …); the usual order was assumed"
        )


def _joined(states: Sequence[TrainingState]) -> TrainingState:
    """The first of each that any part gives."""
    joined = TrainingState()
    for state in states:
        joined = replace(
            joined,
            global_step=_first(joined.global_step, state.global_step),
            epoch=_first(joined.epoch, state.epoch),
            param_groups=joined.param_groups or state.param_groups,
            optimizer_steps=joined.optimizer_steps or state.optimizer_steps,
            scheduler=joined.scheduler or state.scheduler,
            scaler=joined.scaler or state.scaler,
            settings={**state.settings, **joined.settings},
        )
    return joined


def _first(one: Any, other: Any) -> Any:
    return other if one is None else one


def _with_optimizers(
    state: TrainingState, optimizers: Sequence[OptimizerState], namings: "Sequence[Naming]"
) -> TrainingState:
    groups = [group for optimizer in optimizers for group in optimizer.groups]
    steps: dict[str, Any] = dict(state.optimizer_steps)
    for optimizer, naming in zip(optimizers, namings, strict=True):
        steps.update(_steps(optimizer, naming))
    numbers = _Numbers(
        [*steps.values(), *state.scaler.values(), *(v for g in groups for v in g.settings.values())]
    )
    return replace(
        state,
        param_groups=tuple(numbers.filled(g.settings) for g in groups) or state.param_groups,
        optimizer_steps={k: float(v) for k, v in numbers.filled(steps).items() if v is not None},
        scaler=numbers.filled(state.scaler),
    )


def _steps(optimizer: OptimizerState, naming: "Naming") -> Iterator[tuple[str, Any]]:
    """Adam's counter of each parameter, as a number or as a tensor that holds it."""
    of_group: dict[Key, Any] = {
        key: group.settings["step"]
        for group in optimizer.groups
        if "step" in group.settings  # apex and Transformer Engine count by group
        for key in group.params
    }
    for key, slots in optimizer.slots.items():
        step = slots.get("step", of_group.get(key))
        if isinstance(step, (int, float, StoredTensor)) and not isinstance(step, bool):
            yield naming.names[key], step


class _Numbers:
    """The values of tensors of one element, read in one go."""

    def __init__(self, held: Iterable[Any]) -> None:
        tensors = [value for value in held if isinstance(value, StoredTensor)]
        keys = [id(tensor) for tensor in tensors]
        self._values = dict(zip(keys, read_numbers(tensors), strict=True))

    def filled(self, mapping: Mapping[str, Any]) -> dict[str, Any]:
        """The mapping with numbers in the place of tensors."""
        return {
            key: self._values.get(id(value)) if isinstance(value, StoredTensor) else value
            for key, value in mapping.items()
        }
