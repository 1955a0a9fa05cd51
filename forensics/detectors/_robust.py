"""Robust statistics that survive spikes: medians, spreads, levels. All arrays are finite."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from forensics.medians import MAD_TO_SD, MEDIAN_ERROR, deviation, median, row_medians
from forensics.run import Steps, Values

HUGE = 1e300
WINDOW_VALUES = 1 << 22
"""Values held at once while medians of many windows are taken."""
Z95 = 1.645
"""95th percentile of the standard normal: turns an upper tail into a standard deviation."""


def noise(value: Values) -> float:
    """Standard deviation of the point-to-point noise, blind to trend and to spikes.

    Args:
        value: Shape (n,).

    Returns:
        MAD of the second differences over sqrt(6), in the unit of ``value``; 0.0 below 4 points.
        Second differences cancel a slope, so a steep but smooth fall is not called noise.
    """
    if len(value) < 4:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        bend = np.diff(stretches(value), n=2)
    bend = bend[np.isfinite(bend)]
    if len(bend) == 0:
        return 0.0
    return float(MAD_TO_SD * deviation(bend) / np.sqrt(6.0))


def stretches(value: Values, points: int = 65_536, count: int = 16) -> Values:
    """Some unbroken stretches that stand for a very long array; a shorter one comes back whole.

    The few differences across the joints do not move a median.
    """
    if len(value) <= 2 * points:
        return value
    size = points // count
    starts = np.linspace(0, len(value) - size, count).astype(np.intp)
    return np.concatenate([value[s : s + size] for s in starts])


def quantum(value: Values, sample: int = 4096) -> float:
    """Smallest step between distinct values where the log is quantised, else 0.0.

    bf16 losses come in steps of 2^-8 of their size, so that the MAD can be exactly 0 (signatures
    §3). A log counts as quantised when fewer than half of its values are distinct.
    """
    values = value[-sample:]
    distinct = np.unique(values)
    if len(distinct) < 2 or len(distinct) > 0.5 * len(values):
        return 0.0
    return float(np.min(np.diff(distinct)))


def rolling_median(value: Values, width: int) -> Values:
    """Centred median over ``width`` points, windows cut at both ends; shape (n,)."""
    n = len(value)
    width = max(1, min(width, n))
    if width == 1:
        return value.copy()
    windows = sliding_window_view(value, width)
    rows = max(1, WINDOW_VALUES // width)
    parts = [row_medians(windows[i : i + rows]) for i in range(0, len(windows), rows)]
    inner = np.concatenate(parts)
    left = width // 2
    out = np.empty(n)
    out[left : left + len(inner)] = inner
    for i in range(left):
        out[i] = median(value[: i + left + 1])
    for i in range(left + len(inner), n):
        out[i] = median(value[i - left :])
    return out


def block_medians(step: Steps, value: Values, blocks: int = 4096) -> tuple[Steps, Values]:
    """Thin a long track to the medians of equal blocks; a short one comes back as it is.

    Returns:
        Step of each block's first point and the block's median, shapes (b,), b <= 2 x blocks.
    """
    size = len(value) // blocks
    if size < 2:
        return step, value
    whole = len(value) // size * size
    return step[:whole:size], row_medians(value[:whole].reshape(-1, size))


def thinned(value: Values, blocks: int = 512) -> Values:
    """The medians of `block_medians` alone: what a window of a share of the run is taken over."""
    return block_medians(np.arange(len(value)), value, blocks)[1]


def slope(value: Values) -> tuple[float, float]:
    """Theil-Sen style trend between the two halves of a window.

    Args:
        value: Shape (n,).

    Returns:
        Change from the first to the last point that the trend implies, and its standard error,
        both in the unit of ``value``; (0.0, inf) below 6 points.
    """
    n = len(value)
    if n < 6:
        return 0.0, float("inf")
    third = n // 3
    first, last = value[:third], value[-third:]
    change = (median(last) - median(first)) * n / (n - third)
    spread = MAD_TO_SD * max(
        deviation(first), deviation(last), deviation(np.diff(value)) / np.sqrt(2.0)
    )
    return change, float(MEDIAN_ERROR * spread * np.sqrt(2.0 / third))


def level(value: Values, width: int, *, at_end: bool) -> float:
    """Median of the first or last ``width`` points; NaN where there is none."""
    part = value[-width:] if at_end else value[:width]
    return median(part)


def window_for(n: int, share: float, low: int, high: int) -> int:
    """A window of about ``share`` of n points, within [low, high]."""
    return int(min(max(round(share * n), low), high))


def finite_part(step: Steps, value: Values) -> tuple[Steps, Values]:
    """The points whose value is finite, clipped to a size whose differences stay finite."""
    mask: NDArray[np.bool_] = np.isfinite(value)
    if not mask.all():
        step, value = step[mask], value[mask]
    if len(value) and max(value.max(), -value.min()) > HUGE:
        value = np.clip(value, -HUGE, HUGE)
    return step, value
