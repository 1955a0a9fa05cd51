"""The first points of a run, and runs of few points: there is no rolling baseline yet.

A point is held against the median of the last few in-band values. Training falls at first, so that
median lags behind and only a clear rise is flagged.
"""

import numpy as np
from numpy.typing import NDArray

from forensics.detectors._robust import noise
from forensics.detectors._trigger import Band
from forensics.medians import median
from forensics.run import Values

RECENT = 5
"""In-band values that make the level."""


def judge_early(
    value: Values, limits: Band, *, until: int, k: float, rise: float, absolute: float = 1e-12
) -> None:
    """Fill the first ``until`` points of ``limits`` in place.

    Args:
        value: Shape (n,), finite.
        limits: Band whose early part is not judged yet.
        until: Number of points to judge here.
        k: Height in standard deviations of the last in-band values.
        rise: Least rise as a share of the level so far.
        absolute: Least standard deviation in the unit of ``value``.
    """
    calm: list[float] = []
    for i in range(min(until, len(value))):
        if np.isfinite(limits.median[i]):
            break
        x = float(value[i])
        base, spread = _recent_level(np.array(calm)) if calm else (x, 0.0)
        limits.median[i] = base
        limits.sigma[i] = max(spread, rise * abs(base) / k, absolute)
        if calm and x > base + k * limits.sigma[i]:
            limits.flagged[i] = True
        else:
            calm.append(x)


def _recent_level(calm: NDArray[np.float64]) -> tuple[float, float]:
    """Level that training has got to, and its noise: not its slope, which a steep start has."""
    return median(calm[-RECENT:]), noise(calm[-3 * RECENT :])
