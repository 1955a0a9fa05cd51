"""Data in the order of their classes."""

import torch

from zoo_runs.edits import change_batches
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, stretch: int) -> int:
    """The data are not shuffled: each stretch of batches holds one class only."""
    supply = recipe.batch

    def sorted_by_class(number: int, batch: Batch) -> Batch:
        pool = [supply(7 * number + k + 30_000_000) for k in range(12)]
        inputs = torch.cat([p["inputs"] for p in pool])
        labels = torch.cat([p["labels"] for p in pool])
        classes = int(labels.max()) + 1
        one = (labels == number // stretch % classes).nonzero().flatten()[: len(batch["labels"])]
        return {"inputs": inputs[one], "labels": labels[one]}

    change_batches(recipe, sorted_by_class)
    recipe.shown_batches = range(1, 9)
    recipe.settings.extra["shuffle"] = False
    return stretch


FAULT = Fault(
    name="sorted_by_class",
    cause="data_order",
    inject=inject,
    outcomes=("validation_failed", "stalled", "spiked_recovered", "diverged", "spiked_unrecovered"),
    tuning={"mlp": 40, "cnn": 15},
    measured={"lightning_mlp": 30, "lightning_cnn": 20},
)
