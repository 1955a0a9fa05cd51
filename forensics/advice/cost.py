"""What the failure cost: steps and hours after the onset."""

import re
from collections.abc import Iterator

import numpy as np

from forensics.advice._timing import failed_at
from forensics.case import Case
from forensics.run import Steps, Values
from forensics.signals import Signal
from forensics.timeline import Track
from forensics.verdict import Cost

_CLOCKED = (Signal.TRAIN_LOSS, Signal.GRAD_NORM, Signal.LR, Signal.TRAIN_LOSS_EPOCH)
_MILLISECONDS = re.compile(r"(?:^|[^a-z])(?:ms|msec|milliseconds?)(?:$|[^a-z])", re.IGNORECASE)


def cost_of(case: Case) -> Cost:
    """Steps, hours and share of the run after the onset; all None where training did not fail."""
    onset = failed_at(case)
    if onset is None:
        return Cost(None, None, None)
    line = case.timeline
    lost, whole = max(line.last_step - onset, 0), line.last_step - line.first_step
    return Cost(
        steps_after_onset=lost,
        hours_after_onset=_hours(case, onset, lost),
        share_of_run=min(lost / whole, 1.0) if whole > 0 else None,
    )


def _hours(case: Case, onset: int, steps: int) -> float | None:
    for step, seconds in _clocks(case):
        elapsed = _elapsed(case, step, seconds, onset)
        if elapsed is not None:
            return elapsed / 3600
    timed = case.track(Signal.STEP_TIME)
    seconds_a_step = None if timed is None else _step_seconds(timed)
    return None if seconds_a_step is None else steps * seconds_a_step / 3600


def _clocks(case: Case) -> Iterator[tuple[Steps, Values]]:
    """Every clock of the run, in seconds: times of writing, a logged time, an elapsed time."""
    for signal in _CLOCKED:
        track = case.track(signal)
        if track is not None and track.wall_time is not None:
            yield track.step, track.wall_time
    for signal in (Signal.WALL_TIME, Signal.STEP_TIME):
        track = case.track(signal)
        if track is None or len(track) < 3 or not track.finite.all():
            continue
        if bool(np.all(np.diff(track.value) > 0)):
            yield track.step, track.value / _units_a_second(track)


def _elapsed(case: Case, step: Steps, clock: Values, onset: int) -> float | None:
    """Seconds of training after ``onset``; the pause before a resume is no training.

    Args:
        case: Gives the resumes.
        step: Shape (n,), increasing.
        clock: Shape (n,), seconds.
        onset: First step of the failure.
    """
    known = np.isfinite(clock)
    step, clock = step[known], clock[known]
    if len(clock) < 2:
        return None
    passed = np.diff(clock)
    pauses = np.searchsorted(step, [r.step for r in case.timeline.resumes]) - 1
    passed[pauses[(pauses >= 0) & (pauses < len(passed))]] = 0.0
    return float(np.maximum(passed, 0.0)[step[1:] > onset].sum())


def _step_seconds(track: Track) -> float | None:
    """Median seconds of one step."""
    known = track.value[track.finite & (track.value > 0)]
    return float(np.median(known)) / _units_a_second(track) if len(known) else None


def _units_a_second(track: Track) -> float:
    """The tag says where a time is logged in milliseconds."""
    return 1000.0 if _MILLISECONDS.search(track.tag) else 1.0
