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
ALIKE = 0.03
"""Difference of the accuracies on training and validation data that still are the same."""
OF_CHANCE, BELOW = 0.45, 0.7
"""Share of ln(vocabulary) at which training rests, and share of that at which validation ends."""
CREPT = 0.2
"""Share of all progress that may fall to the last two thirds."""
ROOM = 1.2
"""Times the entropy of one class against all others that a model may cost that still settles."""
UNLEARNED, RIGHT, LESS, CHEAPER = 0.8, 0.75, 0.6, 0.7
"""Share of the first loss that is left, and validation accuracy of a model that knows its classes;
share of that accuracy on training data, and share of the training loss on validation data.

Two mixed samples cost at most ln 2, smoothing little more, attacks on the inputs three quarters of
a guess: what leaves four fifths of it to a model that is right on others is in the labels."""


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
    if not MOST <= share < 1.0 or evals[0] < MOVED * level or _training_differs(timeline, share):
        return None
    least = -share * log(share) - (1 - share) * log(1 - share)
    most = least + (1 - share) * log(max(2, (config.num_classes or 10) - 1))
    settled = float(np.ptp(evals[-3:])) <= STILL * level
    if not (settled and least <= level <= ROOM * most and level < first_level(value)):
        return None
    return resting(value, first_level(value), max(level, part(value, 0.8, 1.0)))


def _training_differs(timeline: Timeline, share: float) -> bool:
    """True where training samples are right more or less often: its answers are not all one."""
    _, seen = finite_of(timeline, Signal.TRAIN_ACCURACY)
    if len(seen) < ANSWERS:
        return False
    return abs(float(np.mean(seen[-(len(seen) // 3) :])) / unit_of(seen) - share) > ALIKE


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


def classes_by_lot(timeline: Timeline, value: Values) -> Flat | None:
    """Classes that training cannot get right at all and validation nearly always does."""
    _, seen = finite_of(timeline, Signal.TRAIN_ACCURACY)
    _, right = finite_of(timeline, Signal.EVAL_ACCURACY)
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(seen) < 20 or len(right) < 3 or len(evals) < 3:
        return None
    first, level = first_level(value), part(value, 0.7, 1.0)
    known = median(right[-3:]) / unit_of(right)
    less = float(np.mean(seen[-len(seen) // 3 :])) / unit_of(seen) <= LESS * known
    if not (known >= RIGHT and less and median(evals[-3:]) <= CHEAPER * level):
        return None
    if level < UNLEARNED * first:
        return None
    return resting(value, first, level, from_start=True)
