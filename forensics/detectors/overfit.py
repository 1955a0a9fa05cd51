"""Overfitting: validation turned while training went on falling."""

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import finite_loss, finite_of
from forensics.detectors._floor_shape import first_level
from forensics.detectors._robust import level, noise, rolling_median
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

MANY = 8
"""Evaluations from which the validation loss can be smoothed and its noise measured."""


def detect(
    timeline: Timeline,
    config: Config,
    *,
    rise: float = 0.1,
    few_rise: float = 0.2,
    errors: float = 4.0,
    evaluations: int = 3,
    train_fall: float = 0.1,
    metric_loss: float = 0.02,
    doubled: float = 1.0,
) -> list[Episode]:
    """Find the turn of the validation loss; at most one episode.

    Args:
        timeline: The run.
        config: Not used.
        rise: Share of the best validation loss that the last ones must lie above it.
        few_rise: The same where there are too few evaluations to know their noise.
        errors: The same in standard deviations of the validation loss's noise.
        evaluations: Fewest evaluations from the best to the end.
        train_fall: Share by which the training loss must fall after the best validation.
        metric_loss: Loss of validation accuracy that makes it a failure; where the accuracy
            holds, a rising validation loss is only over-confidence and stays a warning.
        doubled: Rise from which no metric excuses it; nor is a model excused that ends up costing
            more than an untrained one, whatever it names first.
    """
    step, value = finite_of(timeline, Signal.EVAL_LOSS)
    train_step, train = finite_loss(timeline)
    if len(value) < 3 or len(train) < 4:
        return []
    smooth = rolling_median(value, 3) if len(value) >= MANY else value
    best = int(np.argmin(smooth))
    untrained = first_level(train)
    if len(value) - best < min(evaluations, len(value) - 1) or best == len(value) - 1:
        return []
    last = level(value, min(3, len(value) - best - 1), at_end=True)
    lowest = float(smooth[best])
    grown = (last - lowest) / max(abs(lowest), 1e-9)
    least = rise if len(value) >= MANY else few_rise
    if grown < least or last - lowest < errors * noise(value) or not _keeps_rising(smooth, best):
        return []
    fall = _train_fall(train_step, train, int(step[best]))
    # One that was never better than at first, or than untrained, did not turn: it failed all along.
    if fall < train_fall or not (lowest < 0.95 * float(value[0]) or lowest < untrained):
        return []
    mild = grown < doubled and last < untrained
    held = mild and _metric_holds(timeline, int(step[best]), metric_loss)
    return [_episode(step, value, _turn(value, best), last, grown, fall, held=held)]


def _turn(value: Values, best: int) -> int:
    """Position of the best single evaluation beside that of the best smoothed one."""
    low = max(0, best - 1)
    return low + int(np.argmin(value[low : best + 2]))


def _keeps_rising(value: Values, best: int) -> bool:
    """True for a turn, False for a single bad evaluation or an erratic curve."""
    after = value[best:]
    steps_up = int(np.count_nonzero(np.diff(after) > 0))
    return steps_up >= 0.5 * (len(after) - 1) and float(after[-1]) >= 0.7 * float(after.max())


def _train_fall(step: Steps, train: Values, since: int) -> float:
    """Share by which the training loss fell from around the best validation to the end."""
    at = int(np.searchsorted(step, since))
    width = max(1, min(len(train) // 20, 64))
    then = level(train[max(0, at - width) : at + width], 2 * width, at_end=True)
    now = level(train, width, at_end=True)
    error = 3.0 * noise(train) * np.sqrt(2.0 / width)
    return (then - now) / max(abs(then), 1e-9) if then - now > error else 0.0


def _metric_holds(timeline: Timeline, best_step: int, loss: float) -> bool:
    """True where a validation metric is logged and did not get worse after the best loss."""
    for signal, sign in ((Signal.EVAL_ACCURACY, 1.0), (Signal.EVAL_ERROR, -1.0)):
        step, value = finite_of(timeline, signal)
        if len(value) < 3 or timeline.tracks[signal].tag.lower().find("ppl") >= 0:
            continue
        until = sign * value[step <= best_step]
        if len(until) == 0:
            continue
        last = level(sign * value, min(3, len(value)), at_end=True)
        return bool(last >= until.max() - loss * abs(float(until.max())))
    return False


def _episode(
    step: Steps, value: Values, best: int, last: float, grown: float, fall: float, *, held: bool
) -> Episode:
    # The best evaluation is where it turned: what was saved there is still the best there is.
    turn = int(step[best])
    return Episode(
        EpisodeKind.OVERFIT,
        Signal.EVAL_LOSS,
        turn,
        Severity.WARNING if held else Severity.FAILURE,
        Ending.PERSISTED,
        after_step=turn,
        peak_step=int(step[best + int(np.argmax(value[best:]))]),
        peak_value=float(value[best:].max()),
        baseline=float(value[best]),
        details={
            "best_step": int(step[best]),
            "best_value": float(value[best]),
            "last_value": last,
            "rise": grown,
            "train_fall": fall,
            "metric_held": held,
        },
    )


DETECTOR = Detector("overfit", ((Signal.TRAIN_LOSS, Signal.EVAL_LOSS),), detect)
