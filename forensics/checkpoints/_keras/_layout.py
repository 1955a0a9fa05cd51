"""Tells models from optimizers in Keras' HDF5 files, and gives their arrays names and roles.

Current (``.weights.h5``, and inside ``.keras``): ``layers/<layer>/vars/<i>`` and
``optimizer/vars/<i>``. Older (``.h5``): ``model_weights/<layer>/<variable>`` and
``optimizer_weights/<optimizer>/<variable>_<slot>``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from forensics.checkpoints._base import Role, StoredTensor, TrainingState
from forensics.checkpoints._contents import Model, OptimizerState, ParamGroup, Parts
from forensics.checkpoints._hdf5 import Array
from forensics.checkpoints._keras._names import variable_names
from forensics.checkpoints._keras._slots import Slots, numbered_slots, written_out_slots
from forensics.checkpoints._numbers import read_number

_OPTIMIZER = ("optimizer/", "optimizer_weights/")
_BUFFER = re.compile(r"(?:^|/)moving_(?:mean|variance)$|seed_gen|(?:^|/)normalization(?:_\d+)?/")


def parts_of(
    arrays: Sequence[Array],
    tensors: Mapping[str, StoredTensor],
    settings: Mapping[str, Any],
    *,
    whole: bool,
) -> Parts:
    """Sort the arrays of a file.

    Args:
        arrays: In the order in which they were written, which is the model's.
        tensors: The same, by path.
        settings: The optimizer's.
        whole: False where some may be lost.
    """
    weights = [array for array in arrays if not array.path.startswith(_OPTIMIZER)]
    state = {a.path: tensors[a.path] for a in arrays if a.path.startswith(_OPTIMIZER)}
    named = {
        name: replace(tensors[array.path], name=name, role=_role(name, tensors[array.path]))
        for array, name in zip(weights, variable_names(weights, whole=whole), strict=True)
    }
    model = Model("", named)
    if not state:
        return Parts((model,))
    numbered = any(path.startswith("optimizer/") for path in state)
    slots = numbered_slots(state, named) if numbered else written_out_slots(state, named)
    step = None if slots.iteration is None else read_number(slots.iteration)
    progress = TrainingState(global_step=None if step is None else int(step))
    return Parts((model,), (_optimizer(slots, settings),), (), progress)


def _optimizer(slots: Slots, settings: Mapping[str, Any]) -> OptimizerState:
    counted = {} if slots.iteration is None else {"step": slots.iteration}
    rate = {} if slots.rate is None else {"lr": slots.rate}  # as it was, schedules included
    group = ParamGroup(tuple(slots.of), {**settings, **rate})
    return OptimizerState("optimizer", (group,), {k: {**v, **counted} for k, v in slots.of.items()})


def _role(name: str, tensor: StoredTensor) -> Role:
    return Role.BUFFER if _BUFFER.search(name) or not tensor.dtype.is_floating else Role.PARAM
