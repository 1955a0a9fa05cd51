"""Where epochs begin, as far as the log or the configuration tells."""

from collections.abc import Sequence

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.signals import Signal


def steps_per_epoch(case: Case) -> float | None:
    """Optimizer steps an epoch: from the logged epoch, else from the configured totals."""
    if not facts.counts_steps(case):
        return None
    logged = facts.points(case.track(Signal.EPOCH))
    if logged is not None and len(logged) > 2:
        gained = float(logged.value[-1] - logged.value[0])
        return _from_log(logged.step, logged.value) if gained > 0 else None
    total, epochs = case.config.total_steps, case.config.epochs
    return total / epochs if total and epochs else None


def _from_log(step: np.ndarray, epoch: np.ndarray) -> float:
    """Whole epochs change at their boundaries, fractions of one grow in proportion."""
    changes = step[1:][np.diff(epoch) > 0]
    if bool(np.all(epoch == np.round(epoch))) and len(changes) >= 2:
        return float(np.median(np.diff(changes)))
    return float((step[-1] - step[0]) / (epoch[-1] - epoch[0]))


def at_epoch_start(case: Case, step: int, share: float = 0.02) -> bool | None:
    """True where ``step`` lies within ``share`` of an epoch (or one logged point) of its start."""
    length = steps_per_epoch(case)
    if length is None or length < 4 * case.timeline.interval:
        return None
    into = (step - 1) % length
    margin = max(share * length, 1.5 * case.timeline.interval)
    return bool(into <= margin or length - into <= margin) and step > length / 2


def same_place(case: Case, steps: Sequence[int], share: float = 0.01) -> bool | None:
    """True where the steps lie in different epochs, at the same place of each.

    None where the length of an epoch is not known, or no two of the steps lie in different epochs.
    """
    length = steps_per_epoch(case)
    if length is None or len(steps) < 2 or length < 4 * case.timeline.interval:
        return None
    epoch, place = np.divmod(np.asarray(steps, dtype=np.float64), length)
    if len(np.unique(epoch)) < 2:
        return None
    margin = max(share * length, 1.5 * case.timeline.interval)
    off = np.abs(place - place[0])
    return bool(np.all(np.minimum(off, length - off) <= margin))
