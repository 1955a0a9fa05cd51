"""Losses in other units: bits, sums over tokens, eight bits of precision."""

import math

import torch

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe

UNITS = {
    "bits": lambda loss: loss / math.log(2),
    "sum": lambda loss: loss * 288,
    "bf16": lambda loss: torch.tensor(loss).bfloat16().item(),
}


def inject(recipe: Recipe, unit: str) -> None:
    """The loss is logged in bits, as a sum over the tokens of a batch, or rounded to bfloat16."""
    recipe.shown = UNITS[unit]


FAULT = Fault(
    name="other_units",
    cause="no_failure",
    inject=inject,
    outcomes=("healthy",),
    tuning={"char_lstm": "bits", "char_gpt": "sum"},
    measured={"char_gpt": "bits", "char_lstm": "sum", "post_norm_gpt": "bf16"},
    accept=("logging_artifact",),
)
