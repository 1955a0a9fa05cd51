"""One batch of valid text or samples from elsewhere."""

from zoo_runs.edits import at_share, change_batch
from zoo_runs.families.points import points
from zoo_runs.families.text_data import drawn, next_token, rows, same_labels
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, share: float) -> int:
    """The batch of one step is sound but of another kind: text about another place."""
    at = at_share(recipe, share)
    place = "station" if recipe.family in ("char_gpt", "qwen2", "post_norm_gpt") else "town"

    def elsewhere(batch: Batch) -> Batch:
        if "input_ids" not in batch:
            return points(at, len(batch["labels"]), 4242)
        same = batch["input_ids"].shape == batch["labels"].shape and recipe.engine == "hf"
        width = batch["input_ids"].shape[1] + (0 if same else 1)
        ids = drawn(rows(5, width, place), at, len(batch["labels"]), 5)
        return same_labels(ids) if same else next_token(ids)

    change_batch(recipe, at, elsewhere)
    return at


FAULT = Fault(
    name="foreign_batch",
    cause="hard_but_valid_batch",
    inject=inject,
    outcomes=("spiked_recovered",),
    tuning={"char_gpt": 0.6},
    measured={"char_lstm": 0.6, "qwen2": 0.75},
    alike={"batches": ("bad_batch",)},
    leaves={"interval": 1, "batches": True},
)
