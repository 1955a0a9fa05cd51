"""A curriculum: sequences grow longer, or texts change, in the middle of the run."""

import torch

from zoo_runs.edits import change_batches
from zoo_runs.families.text_data import drawn, next_token, rows
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, how: str) -> None:
    """Short sequences first, whole ones from the middle on; or another mixture of texts."""
    half = recipe.settings.steps // 2

    def changed(number: int, batch: Batch) -> Batch:
        if how == "length":
            return {k: v[:, :6] for k, v in batch.items()} if number <= half else batch
        if number <= half:
            return batch
        size = len(batch["labels"]) // 2
        other = next_token(drawn(rows(6, batch["labels"].shape[1] + 1, "town"), number, size, 6))
        return {k: torch.cat([other[k], v[size:]]) for k, v in batch.items()}

    change_batches(recipe, changed)
    recipe.settings.schedule = "constant"
    if how == "mixture":
        recipe.eval_every = 0


FAULT = Fault(
    name="curriculum",
    cause="no_failure",
    inject=inject,
    outcomes=("healthy", "spiked_recovered", "spiked_unrecovered", "stalled"),
    outcome="healthy",
    tuning={"char_gpt": "length"},
    measured={"char_lstm": "length"},
    accept=("data_order",),
)
