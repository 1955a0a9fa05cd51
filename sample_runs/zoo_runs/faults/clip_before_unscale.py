"""Scaled gradients are clipped, so that next to nothing is left after unscaling."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def prepare(recipe: Recipe) -> None:
    """Half precision, SGD, clipping at 1."""
    s = recipe.settings
    s.precision, s.max_grad_norm, s.optimizer, s.weight_decay = "fp16", 1.0, "sgd", 0.0
    s.learning_rate = {"mlp": 0.1, "cnn": 0.05, "regression": 0.05}[recipe.family]


def inject(recipe: Recipe, _: None) -> None:
    """The gradients are clipped while they are still multiplied by the loss scale."""
    recipe.unscale_first = False


FAULT = Fault(
    name="clipped_while_scaled",
    cause="clip_before_unscale",
    prepare=prepare,
    inject=inject,
    seeds=2,
    outcomes=("stalled", "diverged"),
    tuning={"mlp": None},
    measured={"cnn": None, "regression": None},
    leaves={"grad_norm": True, "config": "json"},
)
