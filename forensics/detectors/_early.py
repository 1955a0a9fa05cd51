"""The first points of a run, and runs of few points: there is no rolling baseline yet.

A point is held against the median of the last few in-band values. Training falls at first, so that
median lags behind and only a clear rise is flagged.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from forensics.detectors._band import Band
from forensics.detectors._robust import noise
from forensics.medians import median, row_medians
from forensics.run import Values

RECENT = 5
"""In-band values that make the level."""
KNOWN_POINTS, KNOWN_RISE = 12, 0.6
"""In-band values from which their noise is known, and the share of the least rise that is then
asked for."""
FALL_RATIO = 10.0
"""Factor over the last few points that a spike of a falling loss has at least."""
FALL_WINDOW = 32
FALL_POINTS = 20_000
"""A longer log has a window of its own that is short against any fall."""
MOST = 1_000
"""Points looked at one by one."""


def judge_early(
    value: Values, limits: Band, *, until: int, k: float, rise: float, absolute: float = 1e-12
) -> None:
    """Fill the first ``until`` points of ``limits`` in place.

    Args:
        value: Shape (n,), finite.
        limits: Band whose early part is not judged yet.
        until: Number of points to judge here.
        k: Height in standard deviations of the last in-band values.
        rise: Least rise as a share of the level, while little is known of its noise.
        absolute: Least standard deviation in the unit of ``value``.
    """
    calm: list[float] = []
    for i in range(min(until, len(value))):
        if np.isfinite(limits.median[i]):
            break
        x = float(value[i])
        base, spread = _recent_level(np.array(calm)) if calm else (x, 0.0)
        limits.median[i] = base
        least = rise if len(calm) < KNOWN_POINTS else KNOWN_RISE * rise
        limits.sigma[i] = max(spread, least * abs(base) / k, absolute)
        if calm and x > base + k * limits.sigma[i]:
            limits.flagged[i] = True
        else:
            calm.append(x)


def judge_fall(value: Values, limits: Band, *, k: float, least: float) -> NDArray[np.bool_]:
    """Flag in ``limits`` what leaves a loss that falls by powers of ten; shape (n,), True there.

    The baseline of a window lags so far behind such a fall that a spike of a hundred times the
    level lies inside the band. In logarithms the last few points are the level.

    Args:
        value: Shape (n,).
        limits: Band that has been judged otherwise.
        k: Height in standard deviations of ln(value) over the points before.
        least: Least value that counts: near nothing, a multiple of it is nothing too.
    """
    found = np.zeros(len(value), np.bool_)
    if not RECENT < len(value) <= FALL_POINTS or value.min() <= 0:
        return found
    logs = np.log(value)
    level = row_medians(sliding_window_view(logs[:-1], RECENT))
    high = (logs[RECENT:] - level >= np.log(FALL_RATIO)) & (value[RECENT:] >= least)
    for i in np.flatnonzero(high & ~limits.flagged[RECENT:])[:MOST] + RECENT:
        spread = noise(logs[max(0, i - FALL_WINDOW) : i])
        base = float(level[i - RECENT])
        if logs[i] - base >= k * spread:
            found[i] = limits.flagged[i] = True
            limits.median[i] = np.exp(base)
            limits.sigma[i] = np.exp(base) * max(spread, 0.01)
    return found


def _recent_level(calm: NDArray[np.float64]) -> tuple[float, float]:
    """Level that training has got to, and its noise: not its slope, which a steep start has."""
    return median(calm[-RECENT:]), noise(calm[-3 * RECENT :])
