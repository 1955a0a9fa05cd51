"""Millions of points as what can be seen of them: lowest, middle and highest a pixel column."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensics.run import Steps, Values

Spans = NDArray[np.float64]
"""Shape (k, 2): first and last step of each span."""


@dataclass(frozen=True, eq=False)
class Envelope:
    """A track as drawn; NaN where a column holds no finite value, which breaks the line."""

    x: Values
    """Shape (k,), steps."""
    low: Values
    middle: Values
    high: Values
    points: int
    """Most points in one column; 1 where every point is drawn."""

    @property
    def dense(self) -> bool:
        """True where a column stands for several points."""
        return self.points > 1


def envelope(step: Steps, value: Values, left: float, right: float, columns: int) -> Envelope:
    """Reduce a track to about ``columns`` columns between ``left`` and ``right``.

    The lowest and highest finite value of every column are kept, so no spike is lost.

    Args:
        step: Shape (n,), increasing.
        value: Shape (n,), non-finite kept.
        left: First step shown.
        right: Last step shown.
        columns: Pixel columns of the panel.
    """
    # One neighbour on either side, so that the line runs to the edge of a zoomed panel.
    first = max(int(np.searchsorted(step, _whole(np.ceil(left)))) - 1, 0)
    last = min(int(np.searchsorted(step, _whole(np.floor(right)), side="right")) + 1, len(step))
    step, value = step[first:last], value[first:last]
    if len(step) <= 2 * columns:
        shown = np.where(np.isfinite(value), value, np.nan)
        return Envelope(step.astype(np.float64), shown, shown, shown, 1)
    return _columns(step, value, np.linspace(step[0], step[-1] + 1, columns + 1))


def _columns(step: Steps, value: Values, edges: Values) -> Envelope:
    starts = np.unique(np.searchsorted(step, _whole(np.ceil(edges[:-1]))))
    starts = starts[starts < len(step)]
    ends = np.append(starts[1:], len(step))
    finite = np.isfinite(value)
    low = np.minimum.reduceat(np.where(finite, value, np.inf), starts)
    high = np.maximum.reduceat(np.where(finite, value, -np.inf), starts)
    empty = ~np.isfinite(low)
    low[empty] = high[empty] = np.nan
    middle = np.array(
        [
            np.nan if hollow else _median(value[a:b][finite[a:b]])
            for a, b, hollow in zip(starts, ends, empty, strict=True)
        ]
    )
    x = (step[starts].astype(np.float64) + step[ends - 1]) / 2
    return Envelope(x, low, middle, high, int(np.max(ends - starts)))


def _whole(edge: Any) -> Any:
    """Edges in the type of the steps: to look up others, numpy would copy all steps."""
    return np.asarray(edge).astype(np.int64)


def _median(value: Values) -> float:
    """The lower of the two middle values: their mean may overflow."""
    return float(np.partition(value, (len(value) - 1) // 2)[(len(value) - 1) // 2])


def spans(step: Steps, flag: NDArray[np.bool_], gap: float) -> Spans:
    """Runs of set points, those not further than ``gap`` steps apart drawn together.

    Args:
        step: Shape (n,), increasing.
        flag: Shape (n,).
        gap: Steps that one pixel covers.
    """
    edge = np.diff(np.concatenate(([0], flag.astype(np.int8), [0])))
    start, end = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1) - 1
    if not len(start):
        return np.empty((0, 2))
    first, last = step[start].astype(np.float64), step[end].astype(np.float64)
    apart = first[1:] - last[:-1] > gap
    return np.stack((first[np.append(True, apart)], last[np.append(apart, True)]), axis=1)
