"""Did a quantity get better at all? Levels are compared, and only beyond what noise explains."""

import numpy as np

from forensics.detectors._context import finite_of
from forensics.detectors._robust import (
    level,
    noise,
    rolling_median,
    slope,
    thinned,
)
from forensics.medians import MEDIAN_ERROR, median
from forensics.run import Config, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

METRICS = (
    (Signal.TRAIN_ACCURACY, 1.0),
    (Signal.EVAL_ACCURACY, 1.0),
    (Signal.EVAL_LOSS, -1.0),
    (Signal.EVAL_ERROR, -1.0),
)
"""What else shows progress, and whether more of it is better."""


def others_improve(timeline: Timeline, *, gain: float = 0.1) -> bool:
    """True where accuracy or validation shows progress that the training loss does not.

    Args:
        timeline: The run.
        gain: Share of its first level by which a quantity must get better.
    """
    for signal, sign in METRICS:
        _, value = finite_of(timeline, signal)
        if len(value) >= 3 and _gained(sign * value, gain) and not at_once(sign * value):
            return True
    return False


def _gained(value: Values, gain: float) -> bool:
    """True where the best level lies above the first by ``gain`` and by four standard errors.

    The accuracy of a small batch jumps about: the best of many such points is no progress.
    """
    n = len(value)
    width, head = max(1, n // 5), max(1, n // 20)
    first = level(value, head, at_end=False)
    thin = thinned(value)
    best = float(np.max(rolling_median(thin, max(1, len(thin) // 5))[1:]))
    error = MEDIAN_ERROR * noise(value) * np.sqrt(1.0 / width + 1.0 / head)
    return bool(best - first > max(gain * max(abs(first), 1e-3), 4.0 * error))


def at_once(value: Values) -> bool:
    """True where all of the improvement came with the second point: then it stopped as well."""
    rest = float(np.max(value[1:])) - float(value[1])
    return rest <= 0.1 * max(float(value[1] - value[0]), 1e-12)


def never_fell(value: Values, least: float) -> bool:
    """True where it is certain that a loss did not fall by ``least`` of its level.

    Where noise could hide such a fall, the answer is False.

    Args:
        value: Shape (n,), finite.
        least: Share of the level that counts as a fall.
    """
    part = max(3, len(value) // 10)
    usual = median(value)
    change, error = slope(value)
    near = MEDIAN_ERROR * noise(value) / np.sqrt(part)
    room = least * abs(usual)
    thin = thinned(value)
    lowest = float(np.min(rolling_median(thin, max(3, len(thin) // 10))))
    above = level(value, 3, at_end=False) - usual
    last = level(value, part, at_end=True)
    return bool(
        abs(change) <= 2.0 * error
        and 2.0 * error + max(-change, 0.0) <= room
        and usual - lowest <= room + 3.0 * near
        and above <= room + 3.0 * noise(value)
        and abs(usual - last) <= max(3.0 * near, 0.1 * room)
    )


def accuracy_of_a_guess(
    timeline: Timeline, config: Config, *, points: int = 20, margin: float = 0.1
) -> bool:
    """True where the training accuracy ends at that of a guess and never rose from there.

    Args:
        timeline: The run.
        config: The number of classes, where known; else a fifth of right answers is the limit.
        points: Fewest accuracies to judge by.
        margin: Share of what there is to learn that still counts as a guess.
    """
    _, value = finite_of(timeline, Signal.TRAIN_ACCURACY)
    if len(value) < points:
        return False
    share = value / 100.0 if value.max() > 1.0 else value
    classes = config.num_classes
    chance = 1.0 / classes if classes and classes > 1 else None
    limit = 0.2 if chance is None else chance + margin * (1.0 - chance)
    third = len(share) // 3
    first, last = share[:third], share[-third:]
    # An accuracy of 0 is one that does not fit the task, not one that was not learned.
    lowest = 0.02 if chance is None else 0.5 * chance
    error = float(np.sqrt((first.var() + last.var()) / third))
    rise = float(last.mean() - first.mean())
    return bool(lowest <= last.mean() <= limit and rise <= max(2.0 * error, 0.01))
