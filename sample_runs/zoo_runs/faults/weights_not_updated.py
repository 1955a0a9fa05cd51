"""The optimizer holds other tensors than the model, or updates are rounded away."""

import copy

import torch
from torch import nn

from zoo_runs.fault import Fault
from zoo_runs.recipe import Optimizer, Recipe, optimizer_of


def inject(recipe: Recipe, how: str) -> None:
    """The optimizer was built for a copy of the model, or each update is rounded away."""
    if how == "copy":

        def stale(model: nn.Module) -> Optimizer:
            return optimizer_of(list(copy.deepcopy(model).parameters()), recipe.settings)

        recipe.optimizer = stale
    else:
        recipe.settings.learning_rate *= 0.01

        def round_off(step: int, model: nn.Module, optimizer: Optimizer) -> None:
            for p in model.parameters():
                kept = before.setdefault(p, p.detach().bfloat16())
                p.data.copy_(torch.where((p - kept).abs() < 2**-8 * p.abs(), kept, p))

        before: dict[nn.Parameter, torch.Tensor] = {}
        recipe.settings.precision = "fp32"
        recipe.after_step.append(round_off)


FAULT = Fault(
    name="weights_frozen",
    cause="weights_not_updated",
    inject=inject,
    outcomes=("stalled",),
    tuning={"char_gpt": "copy", "cnn": "copy"},
    measured={"qwen2": "copy", "char_lstm": "copy", "lightning_mlp": "copy"},
)
