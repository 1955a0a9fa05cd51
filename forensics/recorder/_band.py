"""Bands that a value leaves upwards, known from the values before it alone."""

import math
from collections import deque
from collections.abc import Sequence
from statistics import median

WINDOW, HISTORY = 128, 32
"""In-band values that form the baseline, and the fewest before anything is judged."""
MAD_TO_SD, Z95 = 1.4826, 1.645
TAIL_MARGIN = 1.5
"""A window knows little of a heavy tail: the band lies this far beyond what stayed in it so far."""
FALL_EXPLAINS = 0.6
"""A window whose deviations shrink below this share once its fall is taken out is a fall."""
LEAST_RISE = 0.05
"""A loss this share above the median is within its band however calm it was."""
LEAST_RATIO = math.log(3.0)
"""So is a gradient norm of three times the median; both as the detectors have it."""


class Band:
    """Median plus k robust standard deviations of the last in-band values.

    A value above the band does not enter the baseline, unless the level is held for a window.
    """

    def __init__(self, k: float) -> None:
        self.k = k
        self._kept: deque[float] = deque(maxlen=WINDOW)
        self._above = 0
        self._tail = 0.0

    def leaves(self, value: float, least: float) -> bool:
        """True for a value above the band and more than ``least`` above its median."""
        if len(self._kept) >= HISTORY and self._is_above(value, least):
            self._above += 1
            if self._above < WINDOW:
                return True
            self._kept.clear()  # a level held this long is the new normal
        self._above = 0
        self._kept.append(value)
        return False

    def median(self) -> float:
        """Of the baseline, 0 without one."""
        return median(self._kept or [0.0])

    def _is_above(self, value: float, least: float) -> bool:
        plain, level = list(self._kept), _at_the_end(self._kept)
        falls = _mad(level) < FALL_EXPLAINS * _mad(plain)
        ordered = sorted(level if falls else plain)
        middle = median(ordered)
        spread = ordered[int(0.95 * len(ordered))] - middle  # high values here and there count too
        sigma = max(MAD_TO_SD * _mad(ordered), spread / Z95, least / self.k)
        height = (value - middle) / sigma if sigma > 0 else float(value > middle) * math.inf
        if height > min(max(self.k, TAIL_MARGIN * self._tail), 3.0 * self.k):
            return True
        self._tail = max(self._tail, height)
        return False


def _mad(values: list[float]) -> float:
    middle = median(values)
    return median([abs(v - middle) for v in values])


def _at_the_end(values: Sequence[float]) -> list[float]:
    """The values as a steady fall would have left them by now; as they are where they rise."""
    n, kept = len(values), list(values)
    third = n // 3
    drop = min(0.0, median(kept[-third:]) - median(kept[:third])) / (n - third)
    return [v + drop * (n - 1 - i) for i, v in enumerate(kept)]


class Bands:
    """One band of the loss and one of the gradient norm for each micro-batch of a step."""

    def __init__(self, loss_k: float, grad_k: float) -> None:
        self._loss_k, self._grad_k = loss_k, grad_k
        self._bands: dict[tuple[str, int], Band] = {}

    def loss_leaves(self, loss: float, micro: int) -> bool:
        """True where the loss of the step's ``micro``-th batch is not finite or above its band."""
        band = self._bands.setdefault(("loss", micro), Band(self._loss_k))
        return not math.isfinite(loss) or band.leaves(loss, LEAST_RISE * abs(band.median()))

    def norm_leaves(self, norm: float, micro: int) -> bool:
        """The same for the gradient norm, in its logarithm; 0 is no gradient at all."""
        band = self._bands.setdefault(("norm", micro), Band(self._grad_k))
        if not math.isfinite(norm):
            return True
        return norm > 0 and band.leaves(math.log(norm), LEAST_RATIO)
