"""The suspect batch and others, measured at given weights."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """Which checkpoint a batch was measured at."""

    BEFORE = "before"  # the last healthy one before the onset
    EARLIER = "earlier"  # a much earlier one
    INITIAL = "initial"  # freshly built weights: the run left no checkpoint from before the onset


@dataclass(frozen=True)
class BatchMeasure:
    """One batch, forward and backward, at given weights; nothing is updated."""

    step: int
    loss: float
    grad_norm: float
    """Global L2 norm before clipping."""
    group_norms: Mapping[str, float]
    """L2 norm per group of parameters (embedding, block 0 ... head), in the model's order."""
    update_ratio: float
    """L2 norm of the update the optimizer would make over the L2 norm of the weights."""
    worst_share: float | None = None
    """Share of the batch's loss that its worst tenth of samples carries; None: not separable."""


@dataclass(frozen=True)
class Comparison:
    """The suspect batch against control batches at the same weights."""

    role: Role
    checkpoint: str
    """Empty for freshly built weights."""
    step: int | None
    suspect: BatchMeasure
    controls: tuple[BatchMeasure, ...]
    loss_z: float
    """Robust standard deviations by which the suspect's loss is above the controls'."""
    grad_z: float
    """The same for the logarithm of the gradient norm."""

    @property
    def control_loss(self) -> float:
        """Median loss of the controls."""
        ordered = sorted(c.loss for c in self.controls)
        return ordered[len(ordered) // 2] if ordered else math.nan
