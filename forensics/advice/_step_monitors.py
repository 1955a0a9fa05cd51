"""Alarms that look at every logged step."""

import numpy as np

from forensics.advice import _alarms
from forensics.advice._levels import START_POINTS, fired, good_values, start_level, usual_level
from forensics.case import Case
from forensics.signals import Signal
from forensics.verdict import Monitor, Scale


def non_finite(case: Case) -> tuple[Monitor, ...]:
    """The alarm that costs nothing and is missed most often."""
    watched = [t for s in (Signal.TRAIN_LOSS, Signal.GRAD_NORM) if (t := case.track(s)) is not None]
    steps = [
        int(t.step[i]) for t in watched if (i := _alarms.first_non_finite(t.value)) is not None
    ]
    rule = "stop when the loss or the gradient norm is NaN or infinite"
    return (Monitor(Scale.STEP, rule, min(steps, default=None)),)


def gradient_outlier(case: Case, factor: float = 10.0) -> tuple[Monitor, ...]:
    """Megatron's factor of ten: the gradient norm moves before the loss in most failures."""
    track = case.track(Signal.GRAD_NORM)
    level = usual_level(case, track)
    if track is None or level is None or level <= 0:
        return (Monitor(Scale.STEP, "log the gradient norm before clipping, at every step", None),)
    rule = (
        f"skip the step and stop when grad_norm > {factor * level:.3g}"
        f" ({factor:g} x its median {level:.3g})"
    )
    return (Monitor(Scale.STEP, rule, fired(track, lambda v: _alarms.first_multiple(v, factor))),)


def loss_outliers(case: Case, sigmas: float = 7.0, patience: int = 3) -> tuple[Monitor, ...]:
    """OLMo 2's seven standard deviations, three times in a row: one spike tends to recover."""
    track = case.track(Signal.TRAIN_LOSS)
    level = usual_level(case, track)
    if track is None or level is None:
        return ()
    spread = _alarms.cut(good_values(case, track)[-8 * _alarms.WINDOW :]).spread
    bound = (
        f": {level + sigmas * float(spread[-1]):.4g} at its last good level" if len(spread) else ""
    )
    rule = (
        f"stop when the loss is more than {sigmas:g} robust standard deviations above the median of"
        f" the last {_alarms.WINDOW} values{bound}, {patience} logged points in a row"
    )
    step = fired(track, lambda v: _alarms.first_outliers(v, sigmas, patience))
    return (Monitor(Scale.STEP, rule, step),)


def above_start(case: Case, factor: float = 2.0) -> tuple[Monitor, ...]:
    """Catches a blow-up in the first steps, before there is a level to compare with."""
    track = case.track(Signal.TRAIN_LOSS)
    start = None if track is None else start_level(track)
    if track is None or start is None or start <= 0:
        return ()
    bound = factor * start
    rule = f"stop when the loss is above {bound:.4g} ({factor:g} x where training began)"
    step = fired(
        track, lambda v: _alarms.first_true((v > bound) & (np.arange(len(v)) >= START_POINTS))
    )
    return (Monitor(Scale.STEP, rule, step),)
