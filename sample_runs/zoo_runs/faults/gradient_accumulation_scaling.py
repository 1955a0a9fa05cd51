"""The division by the number of micro-batches is missing."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe

PARTS = 8


def prepare(recipe: Recipe) -> None:
    """Eight micro-batches a step, with Adam and clipping: the steps stay sound."""
    s = recipe.settings
    s.gradient_accumulation_steps = PARTS
    s.batch_size, s.steps = max(4, s.batch_size // 4), min(s.steps, 400)


def inject(recipe: Recipe, _: None) -> None:
    """Losses of the micro-batches are added up: the logged loss and the gradients are 8 x."""
    recipe.divide = False
    recipe.shown = lambda loss: loss * PARTS


FAULT = Fault(
    name="micro_batches_summed",
    cause="gradient_accumulation_scaling",
    prepare=prepare,
    inject=inject,
    outcomes=("healthy", "stalled", "diverged", "non_finite"),
    tuning={"char_gpt": None, "mlp": None},
    measured={"char_lstm": None, "regression": None},
    alike_in={"regression": ("no_failure",)},  # no loss at chance tells of a factor there
    leaves={"config": "json"},
)
