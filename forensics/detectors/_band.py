"""The band that each point is held against: a causal robust baseline.

The baseline at a point is the last ``window`` finite values that were themselves in band; a
flagged point never enters it, so a burst cannot hide its own second half (signatures §3: the
robust form with flagged points dropped found all of a burst at 0 to 12 false flags in 10,000
points; replacing flagged points by a trend is self-reinforcing and is not done).
"""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from forensics.detectors._robust import Z95, quantum
from forensics.medians import MAD_TO_SD, row_medians
from forensics.run import Values

LONG = 20_000
"""Beyond this many points most blocks are judged in bulk (see `_screen`)."""
CACHED = 1 << 14
"""Points of which a few copies stay in the processor's cache."""
RUN_POINTS = 4
RUN_SHARE = 0.6
"""So many points in a row above this share of the band's height are out of it as well: one such
value is a tail, four are a level."""
JUMP_TO_TAIL = 1.3
"""95th percentile above the median over that above the median of three neighbours, for noise
between normal and exponential."""
FALL_EXPLAINS = 0.6
"""A window whose deviations shrink below this share once its slope is taken out is a fall."""
STUCK_WINDOWS = 3
"""A level above the band held for this many windows is taken as the new baseline."""


@dataclass(frozen=True, eq=False)
class Band:
    """The band each point was held against."""

    median: Values
    """Shape (n,), baseline; NaN before there is enough history."""
    sigma: Values
    """Shape (n,), robust standard deviation with its floors."""
    flagged: NDArray[np.bool_]
    """Shape (n,), True above the band."""


def band(
    value: Values, *, k: float, window: int, history: int, floor: float, absolute: float = 0.0
) -> Band:
    """Hold every point against the in-band values before it.

    Args:
        value: Shape (n,), finite.
        k: Height of the band in robust standard deviations.
        window: In-band values that form the baseline.
        history: Fewest values before a point is judged.
        floor: Least standard deviation as a share of the baseline.
        absolute: Least standard deviation in the unit of ``value``.
    """
    n = len(value)
    block = 1 if n <= 2_000 else 4 if n <= LONG else max(32, n // 8_192)
    absolute = max(absolute, 0.5 * quantum(value))
    stats = _Stats(floor, absolute)
    out = Band(np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, np.bool_))
    everything = bytearray(b"\x01" * -(-n // block))
    jumps = _jumps(value)
    suspects = _screen(value, jumps, out, stats, k, window, block) if n > LONG else everything
    _walk(value, jumps, out, stats, k, window, history, block, suspects)
    with np.errstate(invalid="ignore"):
        high = value > out.median + RUN_SHARE * k * out.sigma
    out.flagged[_runs(high, RUN_POINTS)] = True
    return out


def _runs(high: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
    """True in every unbroken run of at least ``least`` True; shape (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], high, [False]])))
    out = np.zeros(len(high), np.bool_)
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        if end - begin >= least:
            out[begin:end] = True
    return out


@dataclass(frozen=True)
class _Stats:
    floor: float
    absolute: float

    def of(
        self, history: NDArray[np.float64], jumps: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Median and sigma of each row; two of shape (rows, window) -> two of shape (rows,).

        The upper tail is that of ``jumps``: scattered high values widen the band, a slope or a
        bump that the window has gone through does not.
        """
        width = history.shape[1]
        middle = row_medians(history)
        mad = row_medians(np.abs(history - middle[:, None]))
        mad = _without_fall(history, mad)
        at = min(width - 1, int(0.95 * width))
        tail = np.partition(jumps, at, axis=1)[:, at] * (JUMP_TO_TAIL / Z95)
        sigma = np.maximum(MAD_TO_SD * mad, tail)
        return middle, np.maximum(sigma, np.maximum(self.floor * np.abs(middle), self.absolute))


def _without_fall(history: NDArray[np.float64], mad: NDArray[np.float64]) -> NDArray[np.float64]:
    """The deviation of each row from its own slope, where it falls and that explains most of it.

    A steep fall is no noise. A rise stays in: it would hide behind its own slope.
    """
    width = history.shape[1]
    third = width // 3
    if third < 4:
        return mad
    drop = row_medians(history[:, -third:]) - row_medians(history[:, :third])
    falls = np.flatnonzero(drop < 0)
    if len(falls) == 0:
        return mad
    at = (np.arange(width) - (width - 1) / 2.0) / (width - third)
    level = history[falls] - drop[falls, None] * at
    rest = row_medians(np.abs(level - row_medians(level)[:, None]))
    explained = rest < FALL_EXPLAINS * mad[falls]
    out = mad.copy()
    out[falls[explained]] = rest[explained]
    return out


def _jumps(value: Values) -> Values:
    """How far each point stands above the median of itself and its two neighbours."""
    padded = np.concatenate([value[:1], value, value[-1:]])
    out = np.empty(len(value))
    for lo in range(0, len(value), CACHED):  # whole arrays would go through memory five times
        part = padded[lo : lo + CACHED + 2]
        left, own, right = part[:-2], part[1:-1], part[2:]
        low, high = np.minimum(left, right), np.maximum(left, right)
        out[lo : lo + CACHED] = own - np.clip(own, low, high)
    return out


def _screen(
    value: Values,
    jumps: Values,
    out: Band,
    stats: _Stats,
    k: float,
    window: int,
    block: int,
) -> bytearray:
    """Fill the band from unfiltered history in bulk; mark the blocks that need the exact walk.

    A flagged point matters only to blocks whose history holds it, so where nothing within
    ``window`` before a block and in the block exceeds the band, the bulk result is exact.
    """
    n = len(value)
    count = -(-n // block)
    first = -(-window // block)
    view, edges = sliding_window_view(value, window), sliding_window_view(jumps, window)
    for lo in range(first, count, 2048):
        rows = np.arange(lo, min(lo + 2048, count))
        middle, sigma = stats.of(view[rows * block - window], edges[rows * block - window])
        begin, end = lo * block, min(int(rows[-1] + 1) * block, n)
        out.median[begin:end] = np.repeat(middle, block)[: end - begin]
        out.sigma[begin:end] = np.repeat(sigma, block)[: end - begin]
    with np.errstate(invalid="ignore"):
        owners = np.unique(np.flatnonzero(value > out.median + k * out.sigma) // block)
    suspect = np.zeros(count, np.bool_)
    suspect[:first] = True
    for offset in range(window // block + 3):
        suspect[np.minimum(owners + offset, count - 1)] = True
    return bytearray(suspect.view(np.uint8).tobytes())


def _walk(
    value: Values,
    jumps: Values,
    out: Band,
    stats: _Stats,
    k: float,
    window: int,
    history: int,
    block: int,
    suspects: bytearray,
) -> None:
    """Exact pass over the suspect blocks: history made of unflagged points only."""
    n, reach = len(value), window // block + 2
    recent: NDArray[np.intp] = np.empty(0, np.intp)  # positions of the in-band history
    stuck, previous = 0, -1
    number = suspects.find(1)
    while number >= 0:
        lo, hi = number * block, min((number + 1) * block, n)
        if number != previous + 1:
            recent, stuck = np.arange(max(0, lo - window), lo), 0
        previous = number
        chunk = np.arange(lo, hi)
        if len(recent) >= history:
            middle, sigma = stats.of(value[recent][None, :], jumps[recent][None, :])
            out.median[lo:hi], out.sigma[lo:hi] = middle[0], sigma[0]
            flags = value[lo:hi] > middle[0] + k * sigma[0]
            out.flagged[lo:hi] = flags
            if flags.any():
                end = min(number + reach + 1, len(suspects))
                suspects[number + 1 : end] = b"\x01" * max(0, end - number - 1)
            stuck = stuck + len(chunk) if flags.all() else 0
            chunk = chunk[~flags]
            if stuck >= STUCK_WINDOWS * window:
                # A level held this long is the new normal: start over from it.
                chunk, recent, stuck = np.arange(lo, hi), recent[:0], 0
        recent = np.concatenate([recent, chunk])[-window:]
        number = suspects.find(1, number + 1)
