"""A resume that loads moments which do not belong to the weights."""

from typing import Any

import torch

from zoo_runs.edits import at_share
from zoo_runs.fault import Fault
from zoo_runs.recipe import Optimizer, Recipe, Resume


def prepare(recipe: Recipe) -> None:
    """Stop at 60 %, resume from there."""
    at = at_share(recipe, 0.6)
    recipe.settings.schedule = "constant"
    recipe.resume = Resume(saved=at, stopped=at, text=f"resuming from step {at}")


def damaged(optimizer: Optimizer, state: dict[str, Any], how: str) -> None:
    """Load the state with the moments of equally large tensors exchanged, or cut short."""
    for moments in state["state"].values():
        v = moments["exp_avg_sq"]
        if how == "permuted":
            moments["exp_avg_sq"] = v.flatten()[torch.randperm(v.numel())].view_as(v)
        else:
            moments["exp_avg_sq"] = v.to(torch.float8_e4m3fn).to(v.dtype)
    optimizer.load_state_dict(state)


def inject(recipe: Recipe, how: str) -> int:
    """After a resume the second moment belongs to other weights, or lost its small values."""
    assert recipe.resume is not None
    recipe.resume.restore = lambda optimizer, state: damaged(optimizer, state, how)
    return recipe.resume.saved + 1


FAULT = Fault(
    name="moments_damaged",
    cause="optimizer_state_corrupted",
    prepare=prepare,
    inject=inject,
    told_by=("checkpoints",),
    outcomes=("spiked_recovered", "spiked_unrecovered", "diverged", "non_finite"),
    tuning={"char_gpt": "cut", "regression": "cut"},
    measured={"char_lstm": "permuted", "mlp": "cut", "post_norm_gpt": "cut"},
    alike={"checkpoints": ("resume_state_lost",)},
    leaves={"checkpoints": 8},
)
