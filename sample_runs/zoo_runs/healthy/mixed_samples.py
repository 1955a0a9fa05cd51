"""Mixup on some batches: the loss has two levels."""

import torch

from zoo_runs.edits import change_batches
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, share: float) -> None:
    """A share of the batches is mixed with another, which costs more, all through the run."""
    supply = recipe.batch

    def mixed(number: int, batch: Batch) -> Batch:
        generator = torch.Generator().manual_seed(number)
        if torch.rand(1, generator=generator) > share:
            return batch
        other = supply(number + 40_000_000)["inputs"]
        batch["inputs"] = 0.6 * batch["inputs"] + 0.4 * other
        return batch

    change_batches(recipe, mixed)
    recipe.settings.extra["mixup"] = 0.4


FAULT = Fault(
    name="mixup",
    cause="no_failure",
    inject=inject,
    outcomes=("healthy", "spiked_recovered"),
    outcome="healthy",
    tuning={"cnn": 0.3},
    measured={"lightning_cnn": 0.3, "mlp": 0.25},
)
