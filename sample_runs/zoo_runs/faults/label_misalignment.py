"""Labels that belong to other inputs."""

import torch

from zoo_runs.edits import change_batches
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, how: str) -> None:
    """Inputs were shuffled apart from their labels, or labels are shifted once too often."""

    def apart(number: int, batch: Batch) -> Batch:
        labels = batch["labels"]
        if how == "shuffled":
            generator = torch.Generator().manual_seed(number)
            batch["labels"] = labels[torch.randperm(len(labels), generator=generator)]
        else:
            batch["labels"] = torch.roll(labels, -int(how), dims=1)
        return batch

    change_batches(recipe, apart)
    recipe.validation = [apart(n, dict(b)) for n, b in enumerate(recipe.validation)]
    recipe.shown_batches = range(1, 6)


FAULT = Fault(
    name="labels_apart",
    cause="label_misalignment",
    inject=inject,
    outcomes=("stalled",),
    tuning={"mlp": "shuffled", "char_gpt": "8"},
    measured={"cnn": "shuffled", "lightning_mlp": "shuffled", "gpt2": "7"},
    accept=("label_noise",),
)
