"""A flipped exponent bit in one weight."""

import torch
from torch import nn

from zoo_runs.edits import at_share
from zoo_runs.fault import Fault
from zoo_runs.recipe import Optimizer, Recipe

BIT = 30
"""Of a float32: the highest of the exponent, 0 in every weight below 2; set, a factor of 2**128."""
XID = "NVRM: Xid (PCI:0000:3b:00): 48, pid=2211, name=python, DBE (double bit error) ECC"


def flip(tensor: torch.Tensor, index: int, bit: int) -> None:
    """Flip one bit of a float32 in place."""
    bits = tensor.data.view(-1).view(torch.int32)
    bits[index] ^= 1 << bit


def inject(recipe: Recipe, says_so: bool) -> int:
    """Between two steps one bit of one weight flips; the system's log may tell of it."""
    at = at_share(recipe, 0.55)

    def strike(step: int, model: nn.Module, optimizer: Optimizer) -> None:
        if step == at:
            matrices = [p for p in model.parameters() if p.ndim > 1]
            flip(matrices[len(matrices) // 2], 5, BIT)

    recipe.after_step.append(strike)
    if says_so:
        recipe.needs_text = True
        recipe.closing.append(XID)
    return at + 1


FAULT = Fault(
    name="bit_flip",
    cause="hardware_fault",
    inject=inject,
    told_by=("text",),
    outcomes=("spiked_recovered", "spiked_unrecovered", "diverged", "non_finite"),
    tuning={"char_gpt": True, "cnn": True},
    measured={"regression": True, "gpt2": True},
    leaves={"checkpoints": 8},
)
