"""A learning rate that is a thousand times too low."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, factor: float) -> None:
    """The learning rate is orders of magnitude too low."""
    recipe.settings.learning_rate *= factor


FAULT = Fault(
    name="rate_too_low",
    cause="learning_rate_too_low",
    inject=inject,
    outcomes=("stalled",),
    tuning={"qwen2": 1e-4, "mlp": 1e-4},
    measured={"gpt2": 2e-3, "char_lstm": 1e-4, "lightning_cnn": 1e-4},
)
