"""Several epochs over a small set: the loss steps down at each, and a hard batch comes back."""

import torch

from zoo_runs.edits import change_batches
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, how: str) -> None:
    """Epochs over the same batches: a sawtooth, or one hard batch at the same place of each."""
    length = recipe.settings.steps // 8
    supply = recipe.batch

    def of_epoch(number: int, batch: Batch) -> Batch:
        epoch, place = divmod(number - 1, length)
        order = torch.randperm(length, generator=torch.Generator().manual_seed(epoch))
        index = int(order[place]) if how == "sawtooth" else place
        batch = dict(supply(1 + index))
        if how == "hard" and place == length // 3:
            labels = batch["labels"]
            batch["labels"] = labels[torch.randperm(len(labels), generator=torch.manual_seed(1))]
        return batch

    change_batches(recipe, of_epoch)
    recipe.eval_every = 0


FAULT = Fault(
    name="epochs",
    cause="no_failure",
    inject=inject,
    outcomes=("healthy", "spiked_recovered"),
    tuning={"mlp": "sawtooth", "cnn": "hard"},
    measured={"char_lstm": "sawtooth", "mlp": "hard"},
    accept=("hard_but_valid_batch", "bad_batch"),
)
