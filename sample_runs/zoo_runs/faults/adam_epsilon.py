"""An epsilon far above the size of the gradients: Adam's quotient means nothing any more."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, eps: float) -> None:
    """Epsilon is far above the root of the second moment, so updates are next to nothing."""
    recipe.settings.eps = eps


FAULT = Fault(
    name="adam_epsilon",
    cause="adam_instability",
    inject=inject,
    outcomes=("stalled",),
    tuning={"char_gpt": 3.0, "mlp": 100.0},
    measured={"qwen2": 3.0, "char_lstm": 3.0},
    leaves={"config": "json"},
    alike={"checkpoints": ("learning_rate_too_low",)},
)
