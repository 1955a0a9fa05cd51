"""Floors that the labels leave, as validation gives them away."""

from math import log

import numpy as np

from forensics.detectors._context import finite_of
from forensics.detectors._floor_shape import first_level, part, resting, stopped, unit_of
from forensics.detectors._levels import Flat
from forensics.medians import median
from forensics.run import Config, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

ANSWERS, MOST = 5, 0.9
"""Evaluations of one and the same accuracy, and least accuracy, that say 'always one class'."""
MOVED, STILL = 1.5, 0.05
"""Factor by which validation fell meanwhile, and relative change of the last three."""
OF_CHANCE, BELOW = 0.45, 0.7
"""Share of ln(vocabulary) at which training rests, and share of that at which validation ends."""
CREPT = 0.2
"""Share of all progress that may fall to the last two thirds."""


def one_answer(timeline: Timeline, config: Config, value: Values) -> Flat | None:
    """Always the most frequent class: the accuracy never moves, the loss ends at the entropy.

    Of a share ``a`` of that class, between the entropy of a and 1 - a and that with the rest
    spread over all other classes.
    """
    _, right = finite_of(timeline, Signal.EVAL_ACCURACY)
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(right) < ANSWERS or len(evals) < ANSWERS or float(np.ptp(right)) > 0:
        return None
    share, level = float(right[-1]) / unit_of(right), median(evals[-3:])
    if not MOST <= share < 1.0 or evals[0] < MOVED * level:
        return None
    least = -share * log(share) - (1 - share) * log(1 - share)
    most = least + (1 - share) * log(max(2, (config.num_classes or 10) - 1))
    settled = float(np.ptp(evals[-3:])) <= STILL * level
    if not (settled and least <= level <= most and level < first_level(value)):
        return None
    return resting(value, first_level(value), max(level, part(value, 0.8, 1.0)))


def tokens_by_lot(timeline: Timeline, config: Config, value: Values) -> Flat | None:
    """Characters that training cannot get right and validation shows to be learnable."""
    count = config.vocab_size
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if not count or not 100 <= count < 1_000 or len(evals) < 3:
        return None
    chance, first, level = log(count), first_level(value), part(value, 0.8, 1.0)
    apart = float(evals[-1]) <= BELOW * level and float(evals[0]) <= level
    if not apart or not OF_CHANCE * chance <= level <= chance or first > 1.2 * chance:
        return None
    if not stopped(value, max(first, chance), CREPT):
        return None
    return resting(value, max(first, chance), level, from_start=True)
