"""No clipping where single gradients are many times the usual."""

from zoo_runs.edits import change_batches
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe

EVERY, FACTOR = 97, 30.0


def prepare(recipe: Recipe) -> None:
    """SGD at a rate that needs clipping, and now and then a batch with a large gradient."""
    s = recipe.settings
    s.optimizer, s.max_grad_norm, s.weight_decay, s.schedule = "sgd", 0.5, 0.0, "constant"
    s.learning_rate = {"char_lstm": 6.0, "regression": 0.05, "mlp": 0.3, "post_norm_gpt": 0.4}[
        recipe.family
    ]
    if recipe.family in ("regression", "mlp"):
        change_batches(recipe, lambda number, batch: _heavy(recipe, number, batch))


def _heavy(recipe: Recipe, number: int, batch: Batch) -> Batch:
    """Every so often a batch of extreme but valid samples."""
    if number % EVERY == EVERY - 1 and number > recipe.settings.steps // 4:
        batch["inputs"] = batch["inputs"] * FACTOR
    return batch


def inject(recipe: Recipe, rate: float | None) -> None:
    """Gradients are not clipped."""
    recipe.settings.max_grad_norm = None
    if rate is not None:
        recipe.settings.learning_rate = rate


FAULT = Fault(
    name="no_clipping",
    cause="gradient_clipping_missing",
    prepare=prepare,
    inject=inject,
    outcomes=("diverged", "spiked_unrecovered", "non_finite", "stalled"),
    tuning={"post_norm_gpt": None, "regression": None},
    measured={"char_lstm": None, "mlp": None},
    accept=("learning_rate_too_high",),
    alike={"batches": ("bad_batch", "input_scale", "hard_but_valid_batch")},
)
