"""A peak rate far above what the model takes, with warm-up and clipping in place."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, factor: float) -> None:
    """The peak learning rate is many times too high; warmed up as before."""
    recipe.settings.learning_rate *= factor
    recipe.settings.warmup_steps = max(recipe.settings.warmup_steps, recipe.settings.steps // 8)


FAULT = Fault(
    name="rate_too_high",
    cause="learning_rate_too_high",
    inject=inject,
    outcomes=("diverged", "spiked_unrecovered", "non_finite", "stalled"),
    tuning={"char_gpt": 60, "mlp": 300, "qwen2": 80},
    measured={"gpt2": 100, "char_lstm": 400, "lightning_cnn": 1000, "regression": 300},
    alike={"lr": ("gradient_clipping_missing",)},
)
