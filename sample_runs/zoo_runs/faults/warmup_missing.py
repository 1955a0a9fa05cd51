"""Full-sized updates from the first step on, where the same rate is safe after a warm-up."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe

RATES = {"post_norm_gpt": 3e-2, "char_gpt": 6e-2, "qwen2": 4e-2, "gpt2": 6e-2}


def prepare(recipe: Recipe) -> None:
    """A bold rate that a long warm-up makes safe."""
    recipe.settings.learning_rate = RATES[recipe.family]
    recipe.settings.warmup_steps = recipe.settings.steps // 4


def inject(recipe: Recipe, warmup: int) -> None:
    """No warm-up, or one of a few steps, before the peak rate."""
    recipe.settings.warmup_steps = warmup


FAULT = Fault(
    name="no_warmup",
    cause="warmup_missing",
    prepare=prepare,
    inject=inject,
    outcomes=("diverged", "spiked_unrecovered", "non_finite", "stalled"),
    tuning={"post_norm_gpt": 0, "post_norm_gpt:b": 3},
    measured={"post_norm_gpt": 0, "post_norm_gpt:b": 2},
    accept=("learning_rate_too_high",),
)
