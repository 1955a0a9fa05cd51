"""The shape of a loss that rests on a floor: its first and last level, where it came down."""

from math import log

import numpy as np

from forensics.detectors._context import finite_of
from forensics.detectors._levels import Flat
from forensics.detectors._robust import rolling_median
from forensics.medians import median
from forensics.run import Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

NEAR = 0.05
"""Share of the fall within which a loss has come down to its floor."""


def stopped(value: Values, initial: float, share: float) -> bool:
    """True where at most ``share`` of all progress was made in the last two thirds."""
    level = part(value, 0.8, 1.0)
    return part(value, 0.3, 0.45) - level <= share * max(initial - level, 1e-12)


def same_unit(timeline: Timeline, step: Steps, value: Values) -> bool:
    """True where validation is of the size of training, so that neither is a sum of many."""
    eval_step, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(evals) == 0 or evals.min() <= 0:
        return False
    near = [median(value[max(0, i - 3) : i + 3]) for i in np.searchsorted(step, eval_step)]
    return abs(log(median(evals / np.maximum(near, 1e-12)))) <= log(1.7)


def resting(
    value: Values,
    initial: float,
    level: float,
    *,
    from_start: bool = False,
    near: float = NEAR,
) -> Flat:
    """The floor, begun where the loss had first come down to it by all but ``near`` of its fall."""
    start = 0
    if not from_start:
        calm = rolling_median(value, max(1, min(31, len(value) // 60)))
        there = max(level, part(value, 0.3, 0.45))
        start = int(np.argmax(calm <= there + near * (initial - there)))
    return Flat(start, level, initial, (initial - level) / initial)


def first_level(value: Values) -> float:
    return median(value[:3]) if len(value) >= 60 else float(value[0])


def part(value: Values, begin: float, end: float) -> float:
    """Median over a part of the log, given in shares of it."""
    return median(value[int(begin * len(value)) : max(1, int(end * len(value)))])


def unit_of(share: Values) -> float:
    """100 where accuracies are in percent."""
    return 100.0 if share.max() > 1.0 else 1.0
