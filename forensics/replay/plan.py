"""What is to be replayed: plain values, made without torch and handed to the child process."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from forensics.batches import Limits

CONTROLS = 8
"""Batches the suspect is held against."""
TAIL = 48
"""Steps replayed past the onset: long enough to see whether the loss comes back."""


class Failure(StrEnum):
    """What has to go away for a change to count as effective."""

    NON_FINITE = "non_finite"
    STAYS = "stays"  # the loss left its level and did not come back
    PASSES = "passes"  # a spike that came back
    STALLS = "stalls"  # the loss never fell to speak of
    NONE = "none"  # nothing to reproduce: only measurements


@dataclass(frozen=True)
class Start:
    """A checkpoint to load."""

    path: str
    """Relative to the run directory."""
    step: int | None


@dataclass(frozen=True)
class Logged:
    """One logged quantity."""

    steps: tuple[int, ...]
    values: tuple[float, ...]
    digits: int | None = None
    """Decimals the logger printed; None: not rounded."""

    def at(self, step: int) -> float | None:
        """The value logged at a step."""
        place = int(np.searchsorted(self.steps, step))
        here = place < len(self.steps) and self.steps[place] == step
        return self.values[place] if here else None

    @property
    def interval(self) -> int:
        """Median steps between points, at least 1."""
        gaps = np.diff(self.steps)
        return max(1, int(np.median(gaps))) if len(gaps) else 1


@dataclass(frozen=True)
class Settings:
    """The run's own settings, as far as it left them."""

    precision: str = "fp32"
    optimizer: str | None = None
    lr: float | None = None
    betas: tuple[float, float] | None = None
    eps: float | None = None
    weight_decay: float | None = None
    momentum: float | None = None
    """Of SGD."""
    clip: float | None = None
    """Threshold of the global norm; None or 0: no clipping."""
    clip_p90: float | None = None
    """90th percentile of the norms logged before the onset."""
    warmup_steps: int | None = None
    grad_accum: int | None = None
    world_size: int | None = None
    loss_scale: float | None = None
    seed: int | None = None


@dataclass(frozen=True)
class ReplayPlan:
    """Everything the child process needs."""

    root: str
    source: str
    """Path of the replay file, or the name of an adapter."""
    device: str
    budget: float
    """Seconds."""
    failure: Failure
    suspect_step: int | None
    """Step whose batch is suspect; None: nothing went wrong at a step."""
    search_from: int | None
    """With sparse logs the suspect lies in [search_from, suspect_step]."""
    last_step: int
    """Last step the run logged."""
    level: float
    """Median loss before the onset; the first logged one where there is nothing before it."""
    noise: float
    """Robust standard deviation of the loss around that level."""
    before: Start | None
    """Last healthy checkpoint before the onset."""
    earlier: Start | None
    """A much earlier healthy one."""
    usable: Start | None
    """Any finite checkpoint, where none is from before the onset."""
    loss: Logged
    norm: Logged | None
    rate: Logged | None
    settings: Settings
    batches: tuple[str, ...] = ()
    """Captured batches, relative to the run directory."""
    limits: Limits = field(default_factory=Limits)
    """What the model takes, for the audit of batches."""
    resumed_at: tuple[int, ...] = ()
    """First steps of later attempts."""

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return Path(self.root)
