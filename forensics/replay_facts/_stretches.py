"""A stretch of training, replayed as it was and with one variable changed."""

import math
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class Trajectory:
    """A stretch of training, replayed; one point per optimizer step."""

    steps: tuple[int, ...]
    """In the run's own numbering."""
    loss: tuple[float, ...]
    grad_norm: tuple[float, ...]
    """Before clipping."""
    excess: float
    """Loss above the level before the onset, in nats, that the failure shows: of the spike where it
    passes, of the end where it stays; infinite where the loss or the gradient is not finite."""
    complete: bool = True
    """False where the budget ended it."""

    @property
    def first_non_finite(self) -> int | None:
        """First step whose loss or gradient norm is not finite."""
        rows = zip(self.steps, self.loss, self.grad_norm, strict=True)
        return next((s for s, a, b in rows if not (math.isfinite(a) and math.isfinite(b))), None)


@dataclass(frozen=True)
class AsRun:
    """The trajectory with the run's own settings, against what the run logged."""

    trajectory: Trajectory
    compared: int
    """Logged points of the loss inside the stretch."""
    exact: int
    """Of them equal to every digit the log holds."""
    parts_at: int | None
    """First logged step whose loss differs by more than rounding; None: none does."""
    logged_excess: float
    """`Trajectory.excess` of the logged losses; NaN where too few were logged."""
    reproduces: bool | None
    """Whether the failure came again; None: the stretch did not reach it."""
    matches_log: float | None = None
    """Median distance from the logged losses in nats; None: too few were logged."""


class Variant(StrEnum):
    """One variable changed from the run's own settings."""

    RATE_THIRD = "rate_third"
    RATE_TENTH = "rate_tenth"
    RATE_TEN_TIMES = "rate_ten_times"
    WARMUP = "warmup"
    CLIP_ONE = "clip_one"
    CLIP_P90 = "clip_p90"
    SKIP_BATCH = "skip_batch"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FRESH_MOMENTS = "fresh_moments"
    BETA2 = "beta2"
    EPSILON = "epsilon"
    NO_DECAY = "no_decay"
    MICRO_BATCHES_SUMMED = "micro_batches_summed"  # where their mean was meant
    RANKS_SUMMED = "ranks_summed"
    FROM_STEP_ONE = "from_step_one"  # moments kept, bias correction counted from one


@dataclass(frozen=True)
class Counterfactual:
    """The same stretch with one variable changed."""

    variant: Variant
    setting: str
    """The setting as the report names it, such as 'lr'."""
    before: str
    after: str
    """Both in words, with this run's numbers."""
    trajectory: Trajectory
    removes: bool
    """The failure of the run as it was does not come."""
    clip: float | None = None
    """The norm it clips at, where clipping is what it changes."""
    matches_log: float | None = None
    """Median distance from the logged losses in nats; None: too few were logged."""
