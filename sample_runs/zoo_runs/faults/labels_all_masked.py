"""A batch in which no label counts."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from trainings.corpus import IGNORED
from zoo_runs.edits import at_share, change_batch
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def mean_by_hand(logits: Tensor, batch: Batch) -> Tensor:
    """Mean cross entropy over the labels that count, written as such losses often are."""
    shifted = logits.ndim == 3 and "input_ids" not in batch  # the Trainer hands over labels alone
    outputs, labels = (
        (logits[:, :-1], batch["labels"][:, 1:]) if shifted else (logits, batch["labels"])
    )
    counts = (labels != IGNORED).float()
    each = cross_entropy(outputs.movedim(-1, 1), labels.clamp(min=0), reduction="none")
    return (each * counts).sum() / counts.sum()


def inject(recipe: Recipe, by_hand: bool) -> int:
    """All labels of one batch are masked, and the mean over none of them is NaN."""
    at = at_share(recipe, 0.5)
    if by_hand:
        recipe.criterion = mean_by_hand

    def mask(batch: Batch) -> Batch:
        batch["labels"] = torch.full_like(batch["labels"], IGNORED)
        return batch

    change_batch(recipe, at, mask)
    return at


FAULT = Fault(
    name="no_label_counts",
    cause="labels_all_masked",
    inject=inject,
    told_by=("batches",),
    outcomes=("non_finite", "spiked_recovered"),
    tuning={"char_gpt": True, "qwen2": False},
    measured={"gpt2": True, "char_lstm": True, "cnn": False},
    alike={"batches": ("unstable_loss_function", "non_finite_input", "hardware_fault")},
    leaves={"batches": True},
)
