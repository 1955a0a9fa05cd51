"""Alarm rules run over a whole track at once, as they would have run during training.

Every rule is causal: whether it fires at a point depends on that point and earlier ones only. Each
returns the index of the first point at which it would have stopped the run, or None.

The level that a value is held against is that of the last *complete* window before it, so one
pass over the windows replaces a rolling median and ten million points take a second.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forensics.medians import MAD_TO_SD, MEDIAN_ERROR, row_medians
from forensics.run import Values

WINDOW = 128
"""Points a window: OLMo-core's stability monitor looks at the last 128."""
SHORTEST = 8
DRIFT_WINDOW = 64
SCALE_WINDOW = 20
"""Points within which a loss scale that collapses does so."""


@dataclass(frozen=True, eq=False)
class Windows:
    """A track cut into complete windows."""

    size: int
    """Points a window."""
    median: Values
    """Shape (m,)."""
    spread: Values
    """Shape (m,), robust standard deviation, never below half a percent of the median."""

    @property
    def count(self) -> int:
        """How many complete windows there are."""
        return len(self.median)

    def before(self, length: int) -> NDArray[np.int64]:
        """Shape (length,): the last complete window before each point, -1 where there is none."""
        return np.arange(length) // self.size - 1


def window_size(length: int, size: int = WINDOW) -> int:
    """Points a window of a track of ``length`` points: short tracks get shorter ones."""
    return max(min(size, length // 8), SHORTEST)


def cut(value: Values, size: int = WINDOW) -> Windows:
    """Cut finite values, shape (n,), into complete windows."""
    size = window_size(len(value), size)
    blocks = np.sort(value[: len(value) // size * size].reshape(-1, size), axis=1)
    median = 0.5 * (blocks[:, (size - 1) // 2] + blocks[:, size // 2])
    mad = MAD_TO_SD * row_medians(np.abs(blocks - median[:, None]))
    # The upper tail of a training loss is heavier than its lower one.
    tail = (blocks[:, int(0.95 * (size - 1))] - median) / 1.645
    return Windows(size, median, np.maximum(np.maximum(mad, tail), 0.005 * np.abs(median)))


def first_non_finite(value: Values) -> int | None:
    """The first NaN or infinity."""
    return first_true(~np.isfinite(value))


def first_multiple(value: Values, factor: float) -> int | None:
    """The first point above ``factor`` times the median of the window before it."""
    windows = cut(value)
    at = windows.before(len(value))
    level = np.where(at >= 0, windows.median[at], np.inf) if windows.count else np.inf
    return first_true((value > factor * level) & (level > 0))


def first_outliers(value: Values, sigmas: float, patience: int) -> int | None:
    """The last of the first ``patience`` points in a row above median + ``sigmas`` spreads."""
    windows = cut(value)
    if not windows.count:
        return None
    at = windows.before(len(value))
    bound = np.where(at >= 0, (windows.median + sigmas * windows.spread)[at], np.inf)
    return first_streak(value > bound, patience)


def first_drift(value: Values, share: float = 0.01, errors: float = 5.0) -> int | None:
    """The end of the second window in a row whose median lies above the best one before.

    Above means by more than ``share`` of the best and ``errors`` standard errors of a median.
    """
    windows = cut(value, DRIFT_WINDOW)
    if windows.count < 3:
        return None
    best = np.minimum.accumulate(windows.median)[:-1]
    error = MEDIAN_ERROR * windows.spread[1:] / np.sqrt(windows.size)
    above = windows.median[1:] > best + np.maximum(share * np.abs(best), errors * error)
    second = first_streak(above, 2)
    return None if second is None else (second + 2) * windows.size - 1


def first_share(flag: NDArray[np.bool_], share: float) -> int | None:
    """The end of the second window in a row in which more than ``share`` of the points are set."""
    size = window_size(len(flag))
    blocks = flag[: len(flag) // size * size].reshape(-1, size).mean(axis=1)
    second = first_streak(blocks > share, 2)
    return None if second is None else (second + 1) * size - 1


def first_worsening(value: Values, share: float, patience: int = 2) -> int | None:
    """The last of ``patience`` points in a row more than ``share`` above the best before them."""
    if len(value) < 2:
        return None
    best = np.minimum.accumulate(value)[:-1]
    streak = first_streak(value[1:] > best + share * np.abs(best), patience)
    return None if streak is None else streak + 1


def first_fall(value: Values, factor: float) -> int | None:
    """The first point ``factor`` times below where the value stood `SCALE_WINDOW` points before.

    A scale that falls from the very start is being calibrated, which is normal.
    """
    if len(value) <= 2 * SCALE_WINDOW:
        return None
    before, now = value[SCALE_WINDOW:-SCALE_WINDOW], value[2 * SCALE_WINDOW :]
    at = first_true((now * factor <= before) & (before > 0))
    return None if at is None else at + 2 * SCALE_WINDOW


def first_streak(flag: NDArray[np.bool_], length: int) -> int | None:
    """The end of the first ``length`` set points in a row; flag has shape (n,)."""
    total = np.concatenate(([0], np.cumsum(flag)))
    if len(flag) < length:
        return None
    full = first_true(total[length:] - total[:-length] == length)
    return None if full is None else full + length - 1


def first_true(flag: NDArray[np.bool_]) -> int | None:
    """Index of the first set point of flag, shape (n,)."""
    return int(np.argmax(flag)) if len(flag) and bool(flag.any()) else None
