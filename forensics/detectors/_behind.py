"""Validation that stays far behind a training that learned nearly all there was to learn."""

from dataclasses import dataclass

import numpy as np

from forensics.detectors._context import finite_of
from forensics.medians import median
from forensics.run import Values
from forensics.signals import Signal
from forensics.timeline import Timeline


@dataclass(frozen=True)
class Behind:
    """When validation is far behind; shares are of the first training loss."""

    above: float
    """Share above which validation stays all the last third."""
    learned: float
    """Share that training must have come down to meanwhile."""
    known: float
    """The same where the accuracies lie far apart too."""
    apart: float
    """Accuracy on training data less that on validation data from which they do."""
    held: float
    """Share of the best validation accuracy above which it holds, and excuses the loss."""


def far_behind(
    timeline: Timeline, value: Values, train: Values, first: float, limits: Behind
) -> bool:
    """True where validation learned half of what there was, and no more, and training all of it.

    A validation accuracy that holds says that the loss is over-confidence alone, unless that of
    training shows what could be known; a loss of another unit would begin elsewhere.

    Args:
        timeline: The run.
        value: Validation losses, shape (n,).
        train: Training losses, shape (m,).
        first: The training loss of the untrained model.
        limits: What far is.
    """
    late = value[-max(2, len(value) // 3) :]
    level = median(train[-max(3, len(train) // 5) :])
    if float(late.min()) < limits.above * first:
        return False
    if level <= limits.known * first and accuracies_apart(timeline) >= limits.apart:
        return True
    if not 0.5 * first <= float(value[0]) <= 2.0 * first or level > limits.learned * first:
        return False
    _, right = finite_of(timeline, Signal.EVAL_ACCURACY)
    return not (len(right) and median(right[-3:]) > limits.held * float(right.max()))


def accuracies_apart(timeline: Timeline, *, evaluations: int = 3, points: int = 6) -> float:
    """Accuracy on training less that on validation data in the last third; 0.0 where not known."""
    _, seen = finite_of(timeline, Signal.TRAIN_ACCURACY)
    _, unseen = finite_of(timeline, Signal.EVAL_ACCURACY)
    if len(seen) < points or len(unseen) < evaluations:
        return 0.0
    unit = 100.0 if max(seen.max(), unseen.max()) > 1.5 else 1.0
    late = [float(np.mean(share[-(-len(share) // 3) :])) for share in (seen, unseen)]
    return (late[0] - late[1]) / unit


def fell_behind(value: Values, *, risen: float = 1.1) -> int:
    """Position at which validation turned, or 0 where it was far off from the first one on."""
    best = int(np.argmin(value))
    return best if median(value[-3:]) > risen * float(value[best]) else 0
