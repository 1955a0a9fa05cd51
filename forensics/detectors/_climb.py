"""The levels that a loss goes through, and where it leaves the best of them for good."""

from dataclasses import dataclass

import numpy as np

from forensics.detectors._robust import block_medians, noise, rolling_median, window_for
from forensics.medians import MEDIAN_ERROR, median
from forensics.run import Steps, Values

Z90 = 1.2816
"""90th percentile of the standard normal."""
WIDE = 30.0
"""Largest loss over the first one from which levels are compared as logarithms."""
NEAR = 40
"""Points before the best level that tell its noise."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The course of a loss in rolling medians, shapes (b,)."""

    step: Steps
    value: Values
    """The loss, thinned where it is very long."""
    median: Values
    best: int
    """Position of the lowest level."""
    error: float
    """Standard error of a level."""
    initial: float
    final: float
    logarithmic: bool
    """True where levels are logarithms: the loss spans so much that only factors compare."""

    @property
    def lowest(self) -> float:
        """The best level."""
        return float(self.median[self.best])

    def margin(self, share: float) -> float:
        """A share of the best level, in the unit of the levels."""
        return float(np.log1p(share)) if self.logarithmic else share * abs(self.lowest)

    def loss(self, level: float) -> float:
        """A level in the unit of the loss."""
        return float(np.exp(level)) if self.logarithmic else level

    def level(self, loss: float) -> float:
        """The reverse of `loss`."""
        return float(np.log(loss)) if self.logarithmic else loss


def levels_of(step: Steps, value: Values, window: int) -> Levels:
    """Levels of a finite loss, by rolling medians of at most ``window`` points."""
    start = median(value[: max(1, len(value) // 50)])
    logarithmic = bool(value.min() > 0 and value.max() > WIDE * start)
    value = np.log(value) if logarithmic else value
    sigma = noise(value)
    thin_step, thin = block_medians(step, value)
    sigma /= np.sqrt(max(1.0, len(value) / len(thin)))
    width = window_for(len(thin), 1 / 16, 3, window)
    middle = rolling_median(thin, width)
    best = int(np.argmin(middle))
    # Noise with an upper tail (two levels, rare hard batches) that differences do not show;
    # measured before the rise, which is no noise.
    calm = (thin - middle)[: max(best + width, len(thin) // 4)]
    sigma = max(sigma, float(np.quantile(calm, 0.9)) / Z90)
    tail = max(1, min(width, len(thin) // 5))
    head = max(1, min(width, len(thin) // 50))
    return Levels(
        thin_step,
        thin,
        middle,
        best,
        float(MEDIAN_ERROR * sigma / np.sqrt(width)),
        median(thin[:head]),
        median(thin[-tail:]),
        logarithmic,
    )


def stands_above(levels: Levels, *, share: float = 0.95, least: int = 5) -> bool:
    """Whether nearly all points since the rise are above nearly all at the levels before it.

    Ranks need no estimate of the noise, which a few dozen points and a steep start do not give. In
    mere noise the level comes back to its lower half until shortly before the end.
    """
    if levels.final <= levels.lowest:
        return False
    half = 0.5 * (levels.lowest + levels.final)
    low = np.flatnonzero(levels.median <= half)
    before = levels.value[int(np.argmax(levels.value <= half)) : int(low[-1]) + 1]
    after = levels.value[int(low[-1]) + 1 :]
    if min(len(before), len(after)) < least:
        return False
    return float(np.mean(before[:, None] < after[None, -10 * least :])) >= share


def departure(levels: Levels, *, share: float = 0.03, sigmas: float = 5.5) -> int:
    """Position of the first point outside the band around the best level, before half of the rise.

    A climb out of the noise began before that, at a point that nothing tells from the others.

    Args:
        levels: A loss that ends above its best level.
        share: Least height of the band as a share of the best level.
        sigmas: Its height in standard deviations of the noise around the best level.
    """
    half = levels.median[levels.best :] > 0.5 * (levels.lowest + levels.final)
    at = levels.best + int(np.argmax(half)) if half.any() else len(levels.value) - 1
    before = levels.value[: at + 1]
    fine = rolling_median(before, max(1, min(9, len(levels.value) // 10)))
    turned = int(np.argmin(fine))
    spread = noise(before[max(0, turned - NEAR) : turned + 1])
    best = float(fine[turned])
    margin = float(np.log1p(share)) if levels.logarithmic else share * abs(best)
    inside = np.flatnonzero(before <= best + max(sigmas * spread, margin))
    return min(int(inside[-1]) + 1, at) if len(inside) else 0
