"""Levels of this run that the alarms of the next attempt start from, and rules run over tracks."""

from collections.abc import Callable

import numpy as np

from forensics.advice import _alarms
from forensics.advice._timing import failed_at
from forensics.case import Case
from forensics.medians import median
from forensics.run import Axis, Values
from forensics.timeline import Track

START_POINTS = 3

Rule = Callable[[Values], int | None]
"""Finite values, shape (n,) -> index of the first point at which it fires."""


def fired(track: Track, rule: Rule) -> int | None:
    """The step at which a rule first fires on the finite values of a track."""
    index = rule(track.value[track.finite])
    return None if index is None else int(track.step[track.finite][index])


def good_values(case: Case, track: Track) -> Values:
    """The finite values before the failure, shape (n,); all of them where nothing failed."""
    onset = failed_at(case)
    keep = track.finite if onset is None else track.finite & (track.step < onset)
    return track.value[keep]


def usual_level(case: Case, track: Track | None) -> float | None:
    """Median of the last good values; None where the quantity was not logged before the failure."""
    values = np.empty(0) if track is None else good_values(case, track)
    return median(values[-_alarms.WINDOW :]) if len(values) else None


def start_level(track: Track) -> float | None:
    """Where training began: the first finite value, the one that the whole report names."""
    return None if track.ends is None else track.ends[0]


def planned_steps(case: Case) -> int | None:
    """How long the run was to be, in what it counts: as configured, else as far as it came."""
    planned = {Axis.STEP: case.config.total_steps, Axis.EPOCH: case.config.epochs}
    total = int(planned.get(case.timeline.axis) or case.timeline.last_step)
    return total if total > 0 else None


def planned_updates(case: Case) -> int | None:
    """How many optimizer steps it was to make; None where only epochs or rows are known."""
    by_steps = case.timeline.axis is Axis.STEP
    return case.config.total_steps or (planned_steps(case) if by_steps else None)
