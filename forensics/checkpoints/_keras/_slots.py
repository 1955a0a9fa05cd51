"""The variables of a Keras optimizer: its counter, its rate, and its slots for each variable."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forensics.checkpoints._base import Role, StoredTensor

_FIRST, _SECOND = "exp_avg", "exp_avg_sq"
_SLOT_NAMES = {
    **dict.fromkeys(("momentum", "m", "momentums"), _FIRST),
    **dict.fromkeys(("velocity", "v", "velocities"), _SECOND),
    **dict.fromkeys(("velocity_hat", "vhat"), "max_exp_avg_sq"),
    "rms": "square_avg",
    "accumulator": "sum",
}
"""Keras' slot -> torch's."""
_SLOT = re.compile(rf"(?:^|[/_])({'|'.join(sorted(_SLOT_NAMES, key=len, reverse=True))})(?=$|/)")


@dataclass(frozen=True)
class Slots:
    """What an optimizer holds."""

    iteration: StoredTensor | None = None
    rate: StoredTensor | None = None
    of: Mapping[int | str, Mapping[str, StoredTensor]] = field(default_factory=dict)
    """Variable, by number or by name -> slot, by torch's name."""


def numbered_slots(state: Mapping[str, StoredTensor], model: Mapping[str, StoredTensor]) -> Slots:
    """Slots of ``optimizer/vars/<i>``: counter and rate first, then variable by variable."""
    ordered = sorted(state, key=_index)
    scalars = [state[path] for path in ordered if not state[path].shape][:2]
    rest = [state[path] for path in ordered if not any(state[path] is s for s in scalars)]
    counter = next((t for t in scalars if not t.dtype.is_floating), None)
    rate = next((t for t in scalars if t.dtype.is_floating), None)
    trainable = sum(t.role is Role.PARAM for t in model.values())
    names: Sequence[str] = (_FIRST,)
    if len(rest) > trainable and _come_in_pairs(rest):
        names = (_FIRST, _SECOND)
    width = len(names)
    whole = len(rest) // width
    of: dict[int | str, Mapping[str, StoredTensor]] = {
        number: dict(zip(names, rest[width * number : width * (number + 1)], strict=True))
        for number in range(whole)
    }
    return Slots(counter, rate, of)


def _index(path: str) -> int:
    last = path.rpartition("/")[2]
    return int(last) if last.isdecimal() and len(last) < 10 else 1 << 30


def _come_in_pairs(tensors: Sequence[StoredTensor]) -> bool:
    pairs = zip(tensors[::2], tensors[1::2], strict=False)
    return len(tensors) % 2 == 0 and all(a.shape == b.shape for a, b in pairs)


def written_out_slots(
    state: Mapping[str, StoredTensor], model: Mapping[str, StoredTensor]
) -> Slots:
    """Slots of older files, whose names tell variable and slot."""
    by_flat_name = {_flat(name): name for name in model}
    counter, rate = None, None
    of: dict[int | str, dict[str, StoredTensor]] = {}
    for path, tensor in state.items():
        bare = path.removesuffix(":0").removeprefix("optimizer_weights/")
        last = bare.rpartition("/")[2]
        slot = list(_SLOT.finditer(bare))
        if not tensor.shape and not tensor.dtype.is_floating:
            counter = counter or tensor
        elif not tensor.shape and last in ("learning_rate", "current_learning_rate"):
            rate = tensor
        elif slot:
            found = slot[-1]
            variable = bare[: found.start()] + bare[found.end() :]
            name = _named(_flat(variable), by_flat_name)
            of.setdefault(name, {})[_SLOT_NAMES[found[1]]] = tensor
    return Slots(counter, rate, of)


def _named(variable: str, by_flat_name: Mapping[str, str]) -> str:
    """The model's name for a variable, the optimizer's own name before it dropped."""
    whole = variable
    while variable:
        if variable in by_flat_name:
            return by_flat_name[variable]
        variable = variable.partition("_")[2]
    return f"optimizer.{whole}"


def _flat(name: str) -> str:
    return re.sub(r"[/_]+", "_", name.removesuffix(":0")).strip("_")
