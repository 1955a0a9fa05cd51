"""A batch in which no label counts."""

import torch

from trainings.corpus import IGNORED
from zoo_runs.edits import at_share, change_batch
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, share: float) -> int:
    """All labels of one batch are masked, and the mean over none of them is NaN."""
    at = at_share(recipe, share)

    def mask(batch: Batch) -> Batch:
        batch["labels"] = torch.full_like(batch["labels"], IGNORED)
        return batch

    change_batch(recipe, at, mask)
    return at


FAULT = Fault(
    name="no_label_counts",
    cause="labels_all_masked",
    inject=inject,
    outcomes=("non_finite",),
    tuning={"char_gpt": 0.5, "qwen2": 0.5},
    measured={"gpt2": 0.6, "char_lstm": 0.4, "cnn": 0.5},
    alike={"batches": ("unstable_loss_function", "non_finite_input", "hardware_fault")},
    leaves={"batches": True},
)
