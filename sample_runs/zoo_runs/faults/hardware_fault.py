"""A flipped exponent bit in one weight."""

import torch
from torch import nn

from zoo_runs.edits import at_share
from zoo_runs.fault import Fault
from zoo_runs.recipe import Optimizer, Recipe

BIT = 29
"""Of a float32: the second highest of the exponent; a weight below 2 becomes 2**64 times as large
as it was, or the reverse."""
XID = "NVRM: Xid (PCI:0000:3b:00): 48, pid=2211, name=python, DBE (double bit error) ECC"


def flip(tensor: torch.Tensor, index: int, bit: int) -> None:
    """Flip one bit of a float32 in place."""
    bits = tensor.data.view(-1).view(torch.int32)
    bits[index] ^= 1 << bit


def inject(recipe: Recipe, says_so: bool) -> int:
    """Between two steps one bit of one weight flips."""
    at = at_share(recipe, 0.55)

    def strike(step: int, model: nn.Module, optimizer: Optimizer) -> None:
        if step == at:
            matrices = [p for p in model.parameters() if p.ndim > 1]
            flip(matrices[len(matrices) // 2], 5, 28)

    recipe.after_step.append(strike)
    if says_so:
        recipe.needs_text = True
        recipe.closing.append(XID)
    return at + 1


FAULT = Fault(
    name="bit_flip",
    cause="hardware_fault",
    inject=inject,
    outcomes=("spiked_recovered", "spiked_unrecovered", "diverged", "non_finite"),
    tuning={"char_gpt": True, "mlp": False},
    measured={"qwen2": False, "regression": True, "char_lstm": False},
    leaves={"checkpoints": 8, "interval": 1},
    alike={"text": ("bad_batch", "hard_but_valid_batch", "unstable_loss_function")},
)
