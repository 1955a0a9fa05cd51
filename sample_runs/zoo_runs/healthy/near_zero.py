"""A task so easy that the loss goes to a thousandth and below."""

from zoo_runs.edits import change_batches
from zoo_runs.families.images import images
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def prepare(recipe: Recipe) -> None:
    """Images with hardly any noise."""
    s = recipe.settings
    change_batches(recipe, lambda number, batch: images(number, s.batch_size, s.seed, noise=0.3))
    recipe.validation = [images(10_000_000, 128, s.seed, noise=0.3)]


def inject(recipe: Recipe, _: None) -> None:
    """The loss falls to a thousandth, where single batches are many times the level."""


FAULT = Fault(
    name="near_zero",
    cause="no_failure",
    prepare=prepare,
    inject=inject,
    outcomes=("healthy",),
    outcome="healthy",
    tuning={"cnn": None},
    measured={"lightning_cnn": None},
)
