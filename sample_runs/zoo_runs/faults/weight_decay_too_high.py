"""Weight decay that pulls faster than the gradients push."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, decay: float) -> None:
    """Weight decay is orders of magnitude too strong."""
    recipe.settings.weight_decay = decay
    if recipe.settings.optimizer == "adam":
        recipe.settings.optimizer = "adamw"


FAULT = Fault(
    name="decay_too_high",
    cause="weight_decay_too_high",
    inject=inject,
    outcomes=("stalled", "diverged", "spiked_unrecovered"),
    tuning={"char_gpt": 5.0, "mlp": 20.0, "cnn": 0.2},
    measured={"qwen2": 8.0, "char_lstm": 5.0, "regression": 20.0},
    alike={
        "config": ("learning_rate_too_high", "vanishing_gradients", "label_noise"),
        "config+checkpoints": ("no_failure",),
    },
)
