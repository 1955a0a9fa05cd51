"""Alarms to set before the restart: per step, per window, per validation, with this run's numbers.

Each is also run over this run's own tracks, to say at which step it would have stopped it.
"""

import numpy as np

from forensics.advice import _alarms
from forensics.advice._levels import fired, planned_steps
from forensics.advice._step_monitors import above_start, gradient_outlier, loss_outliers, non_finite
from forensics.advice._window_monitors import clip_share, drift, loss_scale_fall, no_progress
from forensics.case import Case
from forensics.phrasing import stretch
from forensics.signals import Signal
from forensics.timeline import Track
from forensics.verdict import Monitor, Scale


def monitors_for(case: Case) -> tuple[Monitor, ...]:
    """The alarms for the next attempt, from the quickest to the slowest."""
    makers = (
        non_finite,
        gradient_outlier,
        loss_outliers,
        above_start,
        drift,
        no_progress,
        clip_share,
        loss_scale_fall,
        validation,
    )
    return tuple(monitor for make in makers for monitor in make(case))


def validation(case: Case, share: float = 0.03) -> tuple[Monitor, ...]:
    """Validation worse than its best twice running: the training loss cannot show it."""
    track = case.track(Signal.EVAL_LOSS)
    if track is None or not track.finite.any():
        total = planned_steps(case)
        length = None if total is None else stretch(max(total // 20, 1))
        every = "twenty times over the run" if length is None else f"every {length}"
        return (
            Monitor(Scale.VALIDATION, f"validate {every}: no validation loss was logged", None),
        )
    best = float(np.min(track.value[track.finite]))
    rule = (
        f"stop when the validation loss is not finite, or {share:.0%} above its best"
        f" ({best + share * abs(best):.4g}) at two validations in a row"
    )
    return (Monitor(Scale.VALIDATION, rule, _first_failure(track, share)),)


def _first_failure(track: Track, share: float) -> int | None:
    broken = _alarms.first_non_finite(track.value)
    worse = fired(track, lambda v: _alarms.first_worsening(v, share))
    steps = ([] if broken is None else [int(track.step[broken])]) + (
        [] if worse is None else [worse]
    )
    return min(steps, default=None)
