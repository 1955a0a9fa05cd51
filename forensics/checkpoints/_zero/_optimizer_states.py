"""``*_optim_states.pt``: each rank's part of the flat vectors, by slot and group."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forensics.checkpoints._base import StoredTensor
from forensics.checkpoints._contents import ParamGroup, read_optimizer
from forensics.checkpoints._zero._flat import Flat, Shapes, cut_each, cut_even, flats_of
from forensics.inert_pickle import Inert, plain

_MASTER = "fp32_param"
_EVEN, _EACH = "single_partition_of_fp32_groups", "fp32_flat_groups"
_MAX_RANKS = 100_000
_ALIGNED = 2
"""Each rank's part of a group is a multiple of so many elements (``nccl_start_alignment_factor``);
the last rank's lacks the padding, so that the length of another cannot be told from it."""


@dataclass(frozen=True, eq=False)
class OptimizerRanks:
    """The optimizer of one model-parallel rank, over all ranks of data parallelism."""

    stage: int = 0
    world: int = 0
    absent: tuple[int, ...] = ()
    """Ranks whose file is not there or cannot be read."""
    vectors: Mapping[str, Mapping[str, StoredTensor]] = field(default_factory=dict)
    """Slot -> parameter -> tensor."""
    steps: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[ParamGroup, ...] = ()
    scaler: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _RankState:
    """One rank's file: slot -> its vectors, group by group."""

    vectors: Mapping[str, list[StoredTensor | None]]
    steps: list[Any]
    groups: tuple[ParamGroup, ...]


def read_optimizers(roots: Mapping[int, Any], shapes: Sequence[Shapes]) -> OptimizerRanks:
    """Join the ranks' saved objects; None stands for a file that could not be read."""
    states = {rank: _state(root) for rank, root in roots.items() if isinstance(root, dict)}
    if not states:
        return OptimizerRanks(world=len(roots), absent=tuple(sorted(roots)))
    first = states[min(states)]
    world = min(max(_world(first), max(roots) + 1), _MAX_RANKS)
    each = _EACH in first
    ranks = {rank: _rank_state(state) for rank, state in states.items()}
    whole = {rank: ranks.get(rank) for rank in range(world)}
    cut = (_cut_each if each else _cut_even) if shapes else _uncut
    vectors = {
        slot: dict(cut({r: _vectors(s, slot) for r, s in whole.items()}, shapes))
        for slot in dict.fromkeys(slot for state in ranks.values() for slot in state.vectors)
    }
    leading = ranks[min(ranks)]
    return OptimizerRanks(
        stage=_stage(first, each),
        world=world,
        absent=tuple(rank for rank, state in whole.items() if state is None),
        vectors=vectors,
        steps=dict(_steps(leading.steps, shapes, each=each)),
        groups=leading.groups,
        scaler=_scaler(first),
    )


def _state(root: Mapping[Any, Any]) -> Mapping[Any, Any]:
    inside = root.get("optimizer_state_dict", root)
    return inside if isinstance(inside, dict) else {}


def _world(state: Mapping[Any, Any]) -> int:
    count = state.get("partition_count")
    counts = count if isinstance(count, list) else [count]
    return max((c for c in counts if isinstance(c, int)), default=0)


def _stage(state: Mapping[Any, Any], each: bool) -> int:
    stage = state.get("zero_stage")
    if isinstance(stage, Inert) and stage.args:
        stage = stage.args[0]  # an enumeration's member
    return stage if isinstance(stage, int) and 0 < stage < 4 else 3 if each else 1


def _scaler(state: Mapping[Any, Any]) -> Mapping[str, Any]:
    held = plain(state.get("loss_scaler"))
    return held if isinstance(held, dict) else {}


def _rank_state(state: Mapping[Any, Any]) -> _RankState:
    base = state.get("base_optimizer_state", state.get("optimizer_state_dict"))
    groups: tuple[ParamGroup, ...] = ()
    slots: list[Mapping[Any, Any]] = []
    if isinstance(base, dict) and isinstance(base.get("state"), dict):
        optimizer = read_optimizer(base, "", {})
        groups = optimizer.groups
        slots = [optimizer.slots[key] for key in sorted(optimizer.slots, key=str_or_number)]
    elif isinstance(base, list):  # "elastic": the slots of each group, without padding
        slots = [one if isinstance(one, dict) else {} for one in base]
    vectors: dict[str, list[StoredTensor | None]] = {}
    for name in dict.fromkeys(name for held in slots for name in held if name != "step"):
        column = [_vector(held.get(name)) for held in slots]
        if any(vector is not None and vector.size > 1 for vector in column):
            vectors[str(name)] = column
    masters = state.get(_EVEN, state.get(_EACH))
    if isinstance(masters, list):
        vectors = {_MASTER: [_vector(one) for one in masters], **vectors}
    return _RankState(vectors, [held.get("step") for held in slots], groups)


def str_or_number(key: int | str) -> tuple[int, str]:
    """Sort key for numbers before names."""
    return (key, "") if isinstance(key, int) else (1 << 30, key)


def _vector(value: Any) -> StoredTensor | None:
    value = getattr(value, "tensor", value)
    return value if isinstance(value, StoredTensor) else None


def _vectors(state: _RankState | None, slot: str) -> list[StoredTensor | None] | None:
    return None if state is None else state.vectors.get(slot, [])


_ByRank = Mapping[int, list[StoredTensor | None] | None]


def _cut_even(held: _ByRank, shapes: Sequence[Shapes]) -> Iterator[tuple[str, StoredTensor]]:
    for number, group in enumerate(shapes):
        parts = {rank: _at(vectors, number) for rank, vectors in held.items()}
        total = sum(math.prod(shape) for shape in group.values())
        share = _ALIGNED * -(-total // (_ALIGNED * len(held)))
        yield from cut_even(flats_of(parts, share), group)


def _cut_each(held: _ByRank, shapes: Sequence[Shapes]) -> Iterator[tuple[str, StoredTensor]]:
    count = max((len(vectors) for vectors in held.values() if vectors), default=0)
    columns = [flats_of({r: _at(v, n) for r, v in held.items()}) for n in range(count)]
    by_rank: list[list[Flat]] = [
        [column[place] for column in columns] for place in range(len(held))
    ]
    merged = {name: shape for group in shapes for name, shape in group.items()}
    yield from cut_each(by_rank, merged)


def _uncut(held: _ByRank, _: Sequence[Shapes]) -> Iterator[tuple[str, StoredTensor]]:
    """The vectors themselves, where nothing says what they are made of."""
    count = max((len(vectors) for vectors in held.values() if vectors), default=0)
    for number in range(count):
        parts = flats_of({rank: _at(vectors, number) for rank, vectors in held.items()})
        yield from cut_even(parts, {f"vector_{number}": (sum(part.numel for part in parts),)})


def _at(vectors: list[StoredTensor | None] | None, number: int) -> StoredTensor | None:
    return vectors[number] if vectors and number < len(vectors) else None


def _steps(
    steps: Sequence[Any], shapes: Sequence[Shapes], *, each: bool
) -> Iterator[tuple[str, Any]]:
    """Every parameter has the counter of its vector; of stage 3, all have the first one's."""
    for number, group in enumerate(shapes):
        place = 0 if each else number
        if place < len(steps) and steps[place] is not None:
            yield from ((name, steps[place]) for name in group)
