"""One batch of noise."""

import torch

from zoo_runs.edits import at_share, change_batch
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, share: float) -> int:
    """The batch of one step is damaged: random characters, or samples of one repeated value."""
    at = at_share(recipe, share)

    def damage(batch: Batch) -> Batch:
        generator = torch.Generator().manual_seed(at)
        if "input_ids" in batch:
            ids = torch.randint(32, 127, (len(batch["labels"]), 33), generator=generator)
            width = batch["input_ids"].shape[1]
            shift = 0 if torch.equal(batch["input_ids"], batch["labels"]) else 1
            return {"input_ids": ids[:, :width], "labels": ids[:, shift : width + shift]}
        batch["inputs"] = torch.full_like(batch["inputs"], 6.0)
        return batch

    change_batch(recipe, at, damage)
    return at


FAULT = Fault(
    name="noise_batch",
    cause="bad_batch",
    inject=inject,
    told_by=("batches",),
    outcomes=("spiked_recovered", "spiked_unrecovered"),
    tuning={"char_gpt": 0.6, "regression": 0.5},
    measured={"qwen2": 0.5, "char_lstm": 0.7, "cnn": 0.5},
    alike={"batches": ("hard_but_valid_batch",)},
    leaves={"interval": 1, "batches": True},
)
