"""One input that is not a number."""

from zoo_runs.edits import at_share, change_batch
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, share: float) -> int:
    """One value of one batch is NaN or infinite, and the update carries it into all weights."""
    at = at_share(recipe, share)

    def spoil(batch: Batch) -> Batch:
        batch["inputs"] = batch["inputs"].clone()
        batch["inputs"].view(len(batch["inputs"]), -1)[1, 2] = float("nan" if at % 2 else "inf")
        return batch

    change_batch(recipe, at, spoil)
    return at


FAULT = Fault(
    name="nan_in_input",
    cause="non_finite_input",
    inject=inject,
    outcomes=("non_finite",),
    tuning={"mlp": 0.5, "regression": 0.301},
    measured={"cnn": 0.6, "lightning_mlp": 0.551},
    seeds=1,
    alike={"batches": ("unstable_loss_function", "hardware_fault", "bad_batch")},
    leaves={"batches": True},
)
