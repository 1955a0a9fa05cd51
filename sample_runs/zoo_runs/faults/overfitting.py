"""Far too few samples for the model."""

from zoo_runs.edits import change_batches
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, batches: int) -> None:
    """The training set is a handful of batches that come again and again."""
    supply = recipe.batch
    change_batches(recipe, lambda number, batch: supply(1 + number % batches))
    recipe.eval_every = max(5, recipe.settings.steps // 25)


FAULT = Fault(
    name="few_samples",
    cause="overfitting",
    inject=inject,
    outcomes=("overfit",),
    tuning={"mlp": 10, "char_gpt": 3},
    measured={"lightning_mlp": 5, "gpt2": 3, "char_lstm": 1},
)
