"""Tells what the tensors of a save are, whatever its author called them."""

from forensics.checkpoints._contents._assembly import assemble, opened
from forensics.checkpoints._contents._optimizer import read_optimizer
from forensics.checkpoints._contents._parts import (
    Model,
    OptimizerState,
    ParamGroup,
    Parts,
)
from forensics.checkpoints._contents._roles import role_in_model, role_in_optimizer
from forensics.checkpoints._contents._sorting import sort_out

__all__ = [
    "Model",
    "OptimizerState",
    "ParamGroup",
    "Parts",
    "assemble",
    "opened",
    "read_optimizer",
    "role_in_model",
    "role_in_optimizer",
    "sort_out",
]
