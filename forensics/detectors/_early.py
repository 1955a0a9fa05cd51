"""The first points of a run, and runs of few points: there is no rolling baseline yet.

A point is held against the best level so far. Training falls at first, so only a rise above what
was already reached says anything.
"""

import numpy as np
from numpy.typing import NDArray

from forensics.detectors._robust import MAD_TO_SD
from forensics.detectors._trigger import Band
from forensics.run import Values


def judge_early(
    value: Values, limits: Band, *, until: int, k: float, rise: float, absolute: float = 1e-12
) -> None:
    """Fill the first ``until`` points of ``limits`` in place.

    Args:
        value: Shape (n,), finite.
        limits: Band whose early part is not judged yet.
        until: Number of points to judge here.
        k: Height in standard deviations of the lower half of the values so far.
        rise: Least rise as a share of the level so far.
        absolute: Least standard deviation in the unit of ``value``.
    """
    calm: list[float] = []
    for i in range(min(until, len(value))):
        if np.isfinite(limits.median[i]):
            break
        x = float(value[i])
        base, spread = _low_level(np.array(calm)) if calm else (x, 0.0)
        limits.median[i] = base
        limits.sigma[i] = max(spread, rise * abs(base) / k, absolute)
        if calm and x > base + k * limits.sigma[i]:
            limits.flagged[i] = True
        else:
            calm.append(x)


def _low_level(calm: NDArray[np.float64]) -> tuple[float, float]:
    """Median and spread of the last few of the lower half: where training had got to."""
    low = np.sort(calm)[: max(1, (len(calm) + 1) // 2)]
    recent = low[: max(1, min(8, len(low)))]
    base = float(np.median(recent))
    return base, float(MAD_TO_SD * np.median(np.abs(low - np.median(low))))
