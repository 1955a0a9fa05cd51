"""A flipped exponent bit in one weight, of which nothing is said."""

from zoo_runs.fault import Fault
from zoo_runs.faults.hardware_fault import inject

FAULT = Fault(
    name="bit_flip_untold",
    cause="hardware_fault",
    inject=inject,
    told_by=("checkpoints",),
    outcomes=("spiked_recovered", "spiked_unrecovered", "diverged", "non_finite"),
    tuning={"mlp": False},
    measured={"qwen2": False, "regression": False},
    leaves={"checkpoints": 8},
    accept=("bad_batch", "non_finite_input", "unstable_loss_function"),
)
