"""Timeline: one strictly increasing track per quantity, attempts and resumes resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forensics.medians import median
from forensics.run import Axis, Steps, Values
from forensics.signals import Signal

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Track:
    """One quantity over the run as it finally went; superseded points are elsewhere."""

    signal: Signal
    tag: str
    source: str
    step: Steps
    """Shape (n,), strictly increasing."""
    value: Values
    """Shape (n,), non-finite kept."""
    wall_time: Values | None = None
    axis: Axis = Axis.STEP
    digits: int | None = None

    def __len__(self) -> int:
        return len(self.step)

    @cached_property
    def interval(self) -> float:
        """Median number of steps between logged points; 1.0 where there are fewer than two."""
        return median(np.diff(self.step)) if len(self.step) > 1 else 1.0

    @cached_property
    def finite(self) -> NDArray[np.bool_]:
        """Shape (n,), True where the value is finite."""
        return np.isfinite(self.value)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The very first and the very last finite value, as a reader finds them in the log."""
        places = np.flatnonzero(self.finite)
        if not len(places):
            return None
        return float(self.value[places[0]]), float(self.value[places[-1]])


@dataclass(frozen=True)
class Attempt:
    """One process start: the steps it logged."""

    index: int
    first_step: int
    last_step: int
    source: str
    started: float | None = None
    """Seconds since the epoch, where known."""


@dataclass(frozen=True)
class Resume:
    """A later attempt takes over: at ``step``, having gone back from ``rewound_from``."""

    step: int
    """First step logged by the new attempt."""
    rewound_from: int | None
    """Last step of the attempt before, where it lies at or after ``step``; None: no rewind."""
    attempt: int


@dataclass(frozen=True, eq=False)
class Timeline:
    """Everything logged, by canonical quantity."""

    tracks: Mapping[Signal, Track] = field(default_factory=dict)
    """The one track that stands for each quantity."""
    others: tuple[Track, ...] = ()
    """Component losses, per-parameter norms, further validation sets, unknown tags."""
    attempts: tuple[Attempt, ...] = ()
    resumes: tuple[Resume, ...] = ()
    superseded: tuple[Track, ...] = ()
    """Points that a rewind replaced: per attempt and quantity, in order."""
    first_step: int = 0
    last_step: int = 0
    interval: float = 1.0
    """Steps between logged points of the training loss (or of whatever was logged)."""
    axis: Axis = Axis.STEP

    @property
    def length(self) -> int:
        """How far the log reaches, in what it counts; of epochs or rows, how many there are."""
        if self.axis in (Axis.EPOCH, Axis.ROW) and self.tracks:
            return self.last_step - self.first_step + max(1, round(self.interval))
        return self.last_step

    def axis_of(self, step: int) -> Axis:
        """What the number of a checkpoint counts: a log of ten epochs holds no epoch 300."""
        beyond = step > self.last_step + max(self.interval, 1) and self.axis is not Axis.STEP
        return Axis.STEP if beyond else self.axis

    def get(self, signal: Signal) -> Track | None:
        """The track of a quantity, or None where it was not logged."""
        return self.tracks.get(signal)

    def frame(self) -> "pd.DataFrame":
        """The merged metrics, one row per step and one column per quantity.

        Returns:
            Index step; values as text, '' where a quantity was not logged at a step, so that a
            logged NaN ('nan') and an absent point cannot be mistaken for each other.
        """
        import pandas as pd  # only tables need it, and it is slow to import

        columns = {
            str(signal): pd.Series(track.value, index=track.step).map(repr)
            for signal, track in self.tracks.items()
        }
        frame = pd.DataFrame(columns).fillna("")
        frame.index.name = "step"
        return frame.sort_index()

    def write_csv(self, path: Path) -> None:
        """Write `frame` as CSV.

        Raises:
            OSError: ``path`` cannot be written.
        """
        self.frame().to_csv(path)
