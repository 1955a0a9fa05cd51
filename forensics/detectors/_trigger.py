"""Onset and recovery of excursions: a trigger with hysteresis over the band of `_band`."""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from forensics.detectors._band import Band
from forensics.medians import row_medians
from forensics.run import Steps, Values

SETTLED_POINTS = 256
"""An event that never came back ends where this many points in a row are in band again."""


@dataclass(frozen=True)
class Excursion:
    """One stay above the band, as positions into the arrays."""

    onset: int
    peak: int
    last: int
    """Last flagged position."""
    until: int
    """First position after the event: its recovery, the end of the log, or where the level it
    settled at has become the new baseline."""
    recovery: int | None
    """First position from which the level is back for good; None: never within the log."""
    baseline: float
    sigma: float
    points: int
    """Number of flagged points."""


def excursions(
    step: Steps, value: Values, limits: Band, *, merge: float, settle: int
) -> list[Excursion]:
    """Turn flags into events with onset, peak and recovery.

    Args:
        step: Shape (n,), increasing.
        value: Shape (n,).
        limits: From `band`.
        merge: Flags at most this many steps apart are one event.
        settle: Points whose median must be back at the baseline.
    """
    flags = np.flatnonzero(limits.flagged)
    events: list[Excursion] = []
    at = 0
    while at < len(flags):
        event, used = _event(step, value, limits, flags[at:], merge, settle)
        events.append(event)
        at += used
    return events


def _event(
    step: Steps,
    value: Values,
    limits: Band,
    flags: NDArray[np.intp],
    merge: float,
    settle: int,
) -> tuple[Excursion, int]:
    """The event that the first of ``flags`` opens, and how many flags it takes."""
    onset, n = int(flags[0]), len(value)
    used, recovery = 1, None
    while True:
        recovery = _recovery(value, limits, int(flags[used - 1]), settle, onset)
        until = n if recovery is None else recovery
        used = max(used, int(np.searchsorted(flags, until)))
        more = used < len(flags) and step[flags[used]] - step[flags[used - 1]] <= merge
        if not more:
            break
        used += 1
    quiet = np.flatnonzero(np.diff(flags[:used], append=n) > SETTLED_POINTS)
    if recovery is None and len(quiet):
        used = int(quiet[0]) + 1
        until = int(flags[used - 1]) + 1
    inside = flags[:used]
    peak = int(inside[np.argmax(value[inside])])
    base, sigma = float(limits.median[onset]), float(limits.sigma[onset])
    return Excursion(onset, peak, int(inside[-1]), until, recovery, base, sigma, used), used


def _recovery(value: Values, limits: Band, start: int, settle: int, onset: int) -> int | None:
    """First position after ``start`` from which the median of ``settle`` points is at the level.

    The level is the baseline before the onset plus the larger of 1 % and two sigma.
    """
    base, sigma = limits.median[onset], limits.sigma[onset]
    target = base + max(0.01 * abs(base), 2.0 * sigma)
    for lo in range(start + 1, len(value), 4096):
        chunk = value[lo : lo + 4096 + settle - 1]
        width = min(settle, len(chunk))
        low = np.flatnonzero(chunk[: len(chunk) - width + 1] <= target)
        if len(low) == 0:
            continue
        medians = row_medians(sliding_window_view(chunk, width)[low])
        fits = np.flatnonzero(medians <= target)
        if len(fits):
            return lo + int(low[fits[0]])
    return None
