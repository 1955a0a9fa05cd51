"""The first operation of a step that is not finite."""

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """Part of a training step."""

    INPUT = "input"  # the batch itself
    FORWARD = "forward"
    LOSS = "loss"  # the part of the forward pass that is outside every module
    BACKWARD = "backward"
    UPDATE = "update"


@dataclass(frozen=True)
class NonFiniteOperation:
    """The first operation of a step that gave a non-finite value from finite ones."""

    step: int
    precision: str
    """``as_run`` precision such as fp16, or fp32."""
    phase: Phase
    operation: str
    """torch's name of it, such as ``log`` or ``native_layer_norm``; in the backward pass of the one
    whose derivative it was. ``input``, ``parameter`` or ``buffer`` where the step began with it."""
    module: str
    """Path of the module in which it ran, '' outside every module."""
    kind: str
    """``nan`` or ``inf``."""
    inputs: tuple[str, ...]
    """One phrase per tensor that went in: dtype, shape, range."""
    culprit: str = ""
    """What about the inputs made it so, such as 'zeros in the argument', where it can be told."""
    location: str = ""
    """``file:line`` of the user's code that called it, where it is known."""


@dataclass(frozen=True)
class NonFiniteSearch:
    """One step watched operation by operation."""

    step: int
    precision: str
    found: NonFiniteOperation | None
    """None: everything stayed finite."""
