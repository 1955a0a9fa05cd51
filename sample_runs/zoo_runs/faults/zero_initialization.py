"""All hidden weights equal: every unit of a layer learns the same."""

import torch
from torch import nn

from zoo_runs.edits import change_model
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def constant(model: nn.Module, value: float) -> None:
    """Set all matrices to one value."""
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(value)


def inject(recipe: Recipe, value: float) -> None:
    """All weights start at one constant, so the units of a layer never differ."""
    change_model(recipe, lambda model: constant(model, value))


FAULT = Fault(
    name="weights_constant",
    cause="poor_initialization",
    inject=inject,
    outcomes=("stalled",),
    tuning={"regression": 0.0},
    measured={"lightning_mlp": 0.0},
    alike={"checkpoints": ("vanishing_gradients", "dead_units", "label_misalignment")},
)
