"""Alarms that look at a window of logged steps: what no single step shows."""

import numpy as np

from forensics.advice import _alarms
from forensics.advice._levels import fired, planned_steps, start_level
from forensics.case import Case
from forensics.medians import median
from forensics.phrasing import at_step
from forensics.signals import Signal
from forensics.verdict import Monitor, Scale


def drift(case: Case) -> tuple[Monitor, ...]:
    """A loss that creeps up does not come back; no single step of it is an outlier."""
    track = case.track(Signal.TRAIN_LOSS)
    if track is None:
        return ()
    size = _alarms.window_size(int(np.count_nonzero(track.finite)), _alarms.DRIFT_WINDOW)
    rule = (
        f"stop when the median loss of {size} logged points lies 1 % and 5 standard errors above"
        " its best, two windows in a row"
    )
    return (Monitor(Scale.WINDOW, rule, fired(track, _alarms.first_drift)),)


def no_progress(
    case: Case, share: float = 0.1, fall: float = 0.05, points: int = 10
) -> tuple[Monitor, ...]:
    """A run that has learned nothing in its first tenth is not worth the other nine."""
    track = case.track(Signal.TRAIN_LOSS)
    total, start = planned_steps(case), None if track is None else start_level(track)
    if track is None or total is None or start is None:
        return ()
    deadline, bound = round(share * total), start - fall * abs(start)
    early = track.value[track.finite & (track.step <= deadline)]
    if len(early) < points:
        return ()
    stuck = median(early[-points // 2 :]) > bound
    rule = (
        f"stop at {at_step(deadline)} unless the loss is below {bound:.4g}"
        f" ({fall:.0%} under where training began)"
    )
    return (Monitor(Scale.WINDOW, rule, deadline if stuck else None),)


def clip_share(case: Case, share: float = 0.5) -> tuple[Monitor, ...]:
    """The tuning playbook: with more than half of the updates clipped, cut the learning rate."""
    track = case.track(Signal.GRAD_NORM)
    if track is None or case.clip is None:
        return ()
    threshold = case.clip.threshold
    rule = f"lower the learning rate when over {share:.0%} of steps are clipped at {threshold:g}"
    step = fired(track, lambda v: _alarms.first_share(v > threshold, share))
    return (Monitor(Scale.WINDOW, rule, step),)


def loss_scale_fall(case: Case, halvings: int = 4) -> tuple[Monitor, ...]:
    """The loss scale falls tens of steps before an fp16 loss does (GLM-130B: 30)."""
    track = case.track(Signal.LOSS_SCALE)
    if track is None:
        return ()
    points = _alarms.SCALE_WINDOW
    rule = f"stop when the loss scale halves {halvings} times within {points} logged points"
    return (
        Monitor(Scale.WINDOW, rule, fired(track, lambda v: _alarms.first_fall(v, 2.0**halvings))),
    )
