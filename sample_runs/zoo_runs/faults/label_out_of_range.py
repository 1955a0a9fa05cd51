"""A label that no class has."""

from zoo_runs.edits import at_share, change_batch
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, share: float) -> int:
    """One label of one batch lies beyond the last class, which ends the run."""
    at = at_share(recipe, share)

    def beyond(batch: Batch) -> Batch:
        batch["labels"] = batch["labels"].clone()
        batch["labels"].view(-1)[3] = 130
        return batch

    change_batch(recipe, at, beyond)
    recipe.needs_text = True
    return at


FAULT = Fault(
    name="label_beyond_classes",
    cause="label_out_of_range",
    inject=inject,
    outcomes=("crashed",),
    tuning={"mlp": 0.4, "char_gpt": 0.3},
    measured={"cnn": 0.5, "lightning_cnn": 0.3, "char_lstm": 0.4},
)
