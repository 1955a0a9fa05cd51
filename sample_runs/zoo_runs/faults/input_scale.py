"""Inputs or targets that are not normalised."""

from zoo_runs.edits import change_batches
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, factor: float) -> None:
    """Inputs are raw numbers, hundreds of times larger than the model was set up for."""

    def raw(number: int, batch: Batch) -> Batch:
        batch["inputs"] = batch["inputs"] * factor + factor / 2
        if "loss" in recipe.settings.extra:
            batch["labels"] = batch["labels"] * factor / 10
        return batch

    change_batches(recipe, raw)
    recipe.validation = [raw(0, dict(b)) for b in recipe.validation]
    recipe.shown_batches = range(1, 6)


FAULT = Fault(
    name="raw_inputs",
    cause="input_scale",
    inject=inject,
    outcomes=("stalled", "diverged", "non_finite", "spiked_unrecovered"),
    tuning={"mlp": 3000.0, "regression": 200.0},
    measured={"lightning_mlp": 3000.0, "regression": 1000.0},
    alike={"batches": ("poor_initialization", "no_failure")},
)
