"""Where a schedule of the learning rate broke off and began again.

Planned restarts come at the end of a cycle, where the rate is low or hardly falls any more. A rate
that is cut off while it falls was begun anew by a process that did not know how far it had come.
"""

import numpy as np
from numpy.typing import NDArray

from forensics.run import Steps, Values

FELL = 4
"""Points over which the rate fell, without once rising, before it broke off."""
FALL, BREAK = 0.8, 3.0
"""A cut: below this share of the last rate, and by so many times its usual step."""
RISE, HIGH = 1.3, 0.9
"""Factor by which it rises at least, and the share of its peak that it reaches again."""
QUICK = 1 / 2
"""Share of the points of its decay within which it rises: a cycle rises as slowly as it falls."""
WARM = 0.1
"""Share of its peak below which a decay has come to its end."""
STILL_FALLS = 0.2
"""Share of the mean slope of its decay that it would go on falling by."""
MOST = 2
"""More restarts than these are cycles."""


def schedule_restarts(step: Steps, rate: Values) -> tuple[int, ...]:
    """First step of each schedule but the first one; none where the rate goes in cycles.

    Args:
        step: Shape (n,), increasing.
        rate: Shape (n,), the learning rate, finite.
    """
    if len(rate) < 2 * FELL or rate.max() <= 0:
        return ()
    peak, (since, until) = float(rate.max()), _from_high(rate)
    before, now = rate[FELL:-1], rate[FELL + 1 :]
    drops = np.lib.stride_tricks.sliding_window_view(-np.diff(rate[:-1]), FELL)
    slope = drops[:, -1]
    ahead = np.minimum(slope, 2 * slope - drops[:, -2])
    since, until = since[FELL:-1], until[FELL + 1 :]
    mean = (peak - before) / np.maximum(since, 1)
    cut = (now < FALL * before) & (before - now > BREAK * slope)
    ends = (before - 2 * slope <= WARM * peak) | (ahead <= STILL_FALLS * mean)
    begun = (
        ((now > before) | cut)
        & (RISE * before < HIGH * peak)
        & np.all(drops >= 0, axis=1)
        & ~ends
        & (until <= QUICK * since)
    )
    found = np.flatnonzero(begun) + FELL + 1
    return tuple(int(step[i]) for i in found) if len(found) <= MOST else ()


def _from_high(rate: Values) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Points since the rate was near its peak, and until it is again; shapes (n,)."""
    n, place = len(rate), np.arange(len(rate))
    high = rate >= HIGH * rate.max()
    last = np.maximum.accumulate(np.where(high, place, -1))
    following = np.minimum.accumulate(np.where(high, place, 4 * n)[::-1])[::-1]
    since = np.where(last < 0, 0, place - last)
    return since, following - place
