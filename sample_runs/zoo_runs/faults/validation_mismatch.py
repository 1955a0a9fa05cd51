"""Validation data prepared in another way than the training data."""

import torch

from zoo_runs.edits import inputs_of
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, how: str) -> None:
    """Validation inputs are scaled otherwise, or its classes are numbered otherwise."""
    generator = torch.Generator().manual_seed(3)
    order = torch.randperm(128, generator=generator)

    def otherwise(batch: Batch) -> Batch:
        name = inputs_of(batch)
        if how == "scaled":
            return batch | {name: batch[name] * 8 + 2}
        if how == "classes":
            classes = int(batch["labels"].max()) + 1
            return batch | {"labels": (batch["labels"] + 1) % classes}
        return batch | {name: order[batch[name]], "labels": order[batch["labels"]]}

    recipe.validation = [otherwise(b) for b in recipe.validation]
    recipe.eval_every = max(10, recipe.settings.steps // 15)


FAULT = Fault(
    name="validation_otherwise",
    cause="validation_mismatch",
    inject=inject,
    outcomes=("validation_failed", "overfit"),
    tuning={"mlp": "scaled", "char_gpt": "tokens"},
    measured={"lightning_mlp": "classes", "cnn": "classes", "char_lstm": "tokens"},
)
