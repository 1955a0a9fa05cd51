"""A cosine schedule that is restarted on purpose."""

import math

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, cycles: int) -> None:
    """The rate goes from its peak to zero several times, and the loss rises at each restart."""
    length = recipe.settings.steps // cycles
    peak = recipe.settings.learning_rate
    recipe.rate = lambda step: peak * 0.5 * (1 + math.cos(math.pi * ((step - 1) % length) / length))
    recipe.settings.extra["lr_scheduler_type"] = "cosine_with_restarts"
    recipe.settings.extra["num_cycles"] = cycles


FAULT = Fault(
    name="warm_restarts",
    cause="no_failure",
    inject=inject,
    outcomes=("healthy",),
    tuning={"char_lstm": 4},
    measured={"cnn": 3, "char_gpt": 2},
)
