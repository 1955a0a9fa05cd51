"""A rate that falls in steps, and the loss with it."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, factor: float) -> None:
    """The rate is cut at half and at three quarters, and the loss falls at once."""
    steps, peak = recipe.settings.steps, recipe.settings.learning_rate
    recipe.rate = lambda step: peak * factor ** ((step > steps // 2) + (step > 3 * steps // 4))


FAULT = Fault(
    name="step_decay",
    cause="no_failure",
    inject=inject,
    outcomes=("healthy",),
    tuning={"cnn": 0.1},
    measured={"regression": 0.2, "lightning_cnn": 0.1},
)
