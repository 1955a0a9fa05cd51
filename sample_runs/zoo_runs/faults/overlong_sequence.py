"""A sequence longer than the position table."""

import torch

from zoo_runs.edits import at_share, change_batch
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, share: float) -> int:
    """One batch is longer than the table of positions, which ends the run."""
    at = at_share(recipe, share)

    def longer(batch: Batch) -> Batch:
        return {name: torch.cat([ids] * 5, dim=1) for name, ids in batch.items()}

    change_batch(recipe, at, longer)
    recipe.needs_text = True
    return at


FAULT = Fault(
    name="longer_than_positions",
    cause="overlong_sequence",
    inject=inject,
    outcomes=("crashed",),
    tuning={"char_gpt": 0.5},
    measured={"gpt2": 0.6, "post_norm_gpt": 0.2},
)
