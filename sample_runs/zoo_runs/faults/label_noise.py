"""A share of the labels is drawn by lot."""

import torch

from zoo_runs.edits import change_batches
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, share: float) -> None:
    """A large share of the training labels is random; the validation labels are right."""

    def noisy(number: int, batch: Batch) -> Batch:
        generator = torch.Generator().manual_seed(7 + number)
        labels = batch["labels"]
        wrong = torch.rand(labels.shape, generator=generator) < share
        values = labels.unique()
        drawn = values[torch.randint(len(values), labels.shape, generator=generator)]
        batch["labels"] = torch.where(wrong, drawn, labels)
        return batch

    change_batches(recipe, noisy)
    recipe.shown_batches = range(1, 6)


FAULT = Fault(
    name="labels_by_lot",
    cause="label_noise",
    inject=inject,
    outcomes=("stalled",),
    tuning={"mlp": 0.6, "cnn": 0.5},
    measured={"lightning_cnn": 0.6, "char_lstm": 0.4},
    accept=("label_misalignment",),
    alike={"batches": ("no_failure",)},
)
