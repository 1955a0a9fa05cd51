"""First weights of the wrong size."""

import torch
from torch import nn

from zoo_runs.edits import change_model
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def scaled(model: nn.Module, factor: float) -> None:
    """Multiply all matrices of a model."""
    with torch.no_grad():
        for p in model.parameters():
            if p.ndim > 1:
                p.mul_(factor)


def inject(recipe: Recipe, factor: float) -> None:
    """All initial weight matrices are multiplied by a factor."""
    change_model(recipe, lambda model: scaled(model, factor))


FAULT = Fault(
    name="weights_too_large",
    cause="poor_initialization",
    inject=inject,
    outcomes=("stalled", "diverged", "spiked_unrecovered", "non_finite"),
    tuning={"char_gpt": 12.0, "mlp": 12.0},
    measured={"qwen2": 30.0, "char_lstm": 15.0, "lightning_mlp": 15.0},
    alike={"batches": ("input_scale",), "config+checkpoints": ("no_failure",)},
)
