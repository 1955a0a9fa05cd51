"""A rate that is next to nothing, or falls to nothing long before the end."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, share: float) -> int | None:
    """The schedule ends early: the rate falls to zero after a share of the run."""
    end = max(5, round(share * recipe.settings.steps))
    peak, warmup = recipe.settings.learning_rate, min(recipe.settings.warmup_steps, end // 3)

    def rate(step: int) -> float:
        if step <= warmup:
            return peak * step / warmup
        return peak * max(0.0, (end - step) / (end - warmup))

    recipe.rate = rate
    return None


FAULT = Fault(
    name="rate_falls_to_zero",
    cause="learning_rate_too_low",
    inject=inject,
    outcomes=("stalled",),
    tuning={"char_gpt": 0.15, "cnn": 0.02},
    measured={"char_lstm": 0.04, "lightning_mlp": 0.04},
    alike={"lr": ("weights_not_updated", "vanishing_gradients")},
)
