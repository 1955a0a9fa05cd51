"""ReLU units pushed where no input reaches them."""

import torch
from torch import nn

from zoo_runs.edits import at_share
from zoo_runs.fault import Fault
from zoo_runs.recipe import Optimizer, Recipe


def inject(recipe: Recipe, share: float) -> int:
    """A step gone wrong leaves the hidden biases so low that every ReLU is off for good."""
    at = at_share(recipe, share)

    def overshoot(step: int, model: nn.Module, optimizer: Optimizer) -> None:
        if step != at:
            return
        with torch.no_grad():
            layers = [m for m in model.modules() if isinstance(m, nn.Linear | nn.Conv2d)]
            for layer in layers[:-1]:
                assert layer.bias is not None
                layer.bias -= 40.0

    recipe.after_step.append(overshoot)
    recipe.settings.extra["activation"] = "relu"
    return at + 1


FAULT = Fault(
    name="units_die",
    cause="dead_units",
    inject=inject,
    outcomes=("spiked_unrecovered", "diverged", "stalled"),
    tuning={"mlp": 0.3, "regression": 0.5},
    measured={"lightning_mlp": 0.4, "regression": 0.25},
    alike={
        "checkpoints": ("learning_rate_too_high", "vanishing_gradients", "hardware_fault"),
        "grad_norm": ("learning_rate_too_high", "label_misalignment"),
    },
    leaves={"checkpoints": 8},
)
