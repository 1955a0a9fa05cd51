"""What a save holds, before optimizer state has the names of its parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forensics.checkpoints._base import Key, StoredTensor, TrainingState


@dataclass(frozen=True, eq=False)
class ParamGroup:
    """Parameters that an optimizer treats alike."""

    params: tuple[Key, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    """Names of the parameters, where the optimizer was given them."""


@dataclass(frozen=True, eq=False)
class OptimizerState:
    """The state dict of one optimizer."""

    label: str
    """Where in the save it was: ``optimizer``, ``opt_d``."""
    groups: tuple[ParamGroup, ...]
    slots: Mapping[Key, Mapping[str, Any]]
    """Parameter -> slot (``exp_avg``, ``step``) -> tensor or number."""


@dataclass(frozen=True, eq=False)
class Model:
    """The named tensors of one model."""

    label: str
    """'' for the model that is trained; else what sets it apart (``ema``)."""
    tensors: Mapping[str, StoredTensor]
    """Own name -> tensor, role included."""
    ordered: bool = True
    """True where the order is that of the model's construction."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Everything that one file of a save holds."""

    models: tuple[Model, ...] = ()
    optimizers: tuple[OptimizerState, ...] = ()
    others: tuple[StoredTensor, ...] = ()
    """Named tensors that belong to neither."""
    state: TrainingState = field(default_factory=TrainingState)
