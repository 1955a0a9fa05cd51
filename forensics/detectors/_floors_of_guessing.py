"""A loss that is never below that of a guess, and answers that are right as often as guesses."""

from math import log

from forensics.detectors._context import finite_of
from forensics.detectors._floor_shape import first_level, part, unit_of
from forensics.detectors._levels import Flat, with_classes_shown
from forensics.detectors._robust import rolling_median
from forensics.run import Config, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

BELOW, HELD_OUT = 0.985, 0.97
"""Shares of a guess's loss below which training, and validation, have learned something."""
FEWEST = 3
"""Accuracies that tell; and classes, for two are rarely equally frequent."""
LEARNED, RISEN = 0.08, 0.03
"""Share of what there is to learn that an accuracy may lie above a guess's, and may have risen."""
FAR = 2.0
"""Times its beginning at which a loss has not rested but diverged."""
RIGHT = (Signal.TRAIN_ACCURACY, Signal.EVAL_ACCURACY)


def never_below_guess(timeline: Timeline, config: Config, value: Values) -> Flat | None:
    """The level of a classifier that never did better than guessing, by loss and by accuracy.

    Args:
        timeline: The run.
        config: The number of classes, where known; else loss and accuracy may show it.
        value: Shape (n,), the losses.
    """
    level = part(value, 0.5, 1.0)
    count = with_classes_shown(timeline, config, level).num_classes
    if not count or count < FEWEST:
        return None
    chance = log(count)
    calm = rolling_median(value, max(1, len(value) // 10))
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if calm.min() < BELOW * chance or (len(evals) and evals.min() < HELD_OUT * chance):
        return None
    rights = [v for s in RIGHT if len(v := finite_of(timeline, s)[1]) >= FEWEST]
    if not rights or not all(_guesses(v / unit_of(v), count) for v in rights):
        return None
    first = first_level(value)
    if level > FAR * max(first, chance):
        return None
    return Flat(0, level, first, (first - level) / first)


def _guesses(share: Values, count: int) -> bool:
    """True where answers are right as often as guesses are, and no more often at last."""
    third = max(1, len(share) // 3)
    room = 1.0 - 1.0 / count
    risen = float(share[-third:].mean() - share[:third].mean())
    return float(share[-third:].mean()) <= 1.0 / count + LEARNED * room and risen <= RISEN * room
