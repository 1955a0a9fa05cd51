"""A loss without a finite value or derivative at an input that came in the end."""

import torch
from torch import Tensor

from zoo_runs.edits import at_share, change_batch
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def log_of_softmax(logits: Tensor, batch: Batch) -> Tensor:
    """Cross entropy by hand: the log of a probability that can be 0."""
    shares = logits.softmax(dim=-1)
    return -shares.gather(-1, batch["labels"][..., None]).log().mean()


def root_of_error(outputs: Tensor, batch: Batch) -> Tensor:
    """Distance to the target, whose derivative at 0 is infinite."""
    return ((outputs - batch["labels"]).square().sum(dim=-1)).sqrt().mean()


def prepare(recipe: Recipe) -> None:
    """The same loss, written so that it is always finite."""
    if recipe.family == "regression":
        recipe.criterion = lambda o, b: (
            ((o - b["labels"]).square().sum(dim=-1) + 1e-8).sqrt().mean()
        )


def inject(recipe: Recipe, share: float) -> int:
    """The loss takes log 0, or the root at 0, of one sample far from the others."""
    at = at_share(recipe, share)
    if recipe.family == "regression":
        plain, outputs_at = root_of_error, []

        def hit(outputs: Tensor, batch: Batch) -> Tensor:
            if "exact" in batch and outputs.requires_grad:
                outputs_at.append(1)
                batch = batch | {"labels": torch.cat([outputs[:1].detach(), batch["labels"][1:]])}
            return plain(outputs, batch)

        recipe.criterion = hit
        change_batch(recipe, at, lambda b: b | {"exact": torch.ones(1)})
        recipe.shown_batches = range(0)
        return at

    recipe.criterion = log_of_softmax
    recipe.validation_criterion = log_of_softmax

    def wrong_and_sure(batch: Batch) -> Batch:
        if "input_ids" not in batch:
            batch["inputs"] = batch["inputs"].clone()
            batch["inputs"][0] *= 400
            classes = int(batch["labels"].max()) + 1
            batch["labels"] = batch["labels"].clone()
            batch["labels"][0] = (batch["labels"][0] + 1) % classes
        return batch

    change_batch(recipe, at, wrong_and_sure)
    return at


FAULT = Fault(
    name="log_or_root_at_zero",
    cause="unstable_loss_function",
    prepare=prepare,
    inject=inject,
    outcomes=("non_finite",),
    tuning={"regression": 0.5, "mlp": 0.4},
    measured={"regression": 0.7, "lightning_mlp": 0.5},
    accept=("bad_batch", "input_scale"),
    alike={
        "batches": ("bad_batch", "non_finite_input", "hardware_fault", "labels_all_masked"),
        "checkpoints": ("non_finite_input", "hardware_fault"),
    },
)
