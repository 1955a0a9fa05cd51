"""Measures one tensor of weights: its level, and what stands out of it."""

from math import nan, sqrt

import numpy as np

from forensics.checkpoint_facts import WeightFacts
from forensics.checkpoints import StoredTensor
from forensics.scan._moments_rows import RowSums
from forensics.scan._moments_values import values_of
from forensics.scan.element_types import Doubles

FEWEST_ROWS = 16
"""Below, no row can be said to stand out of the others."""
FEW_ROWS, FEW_SHARE = 8, 1e-3
"""A handful of rows: tokens that no text goes without are not more."""


def weight_facts(tensor: StoredTensor, most: int = 1 << 22) -> WeightFacts:
    """Measure a tensor.

    Args:
        tensor: Weights, or running statistics.
        most: Elements to read; of a larger tensor evenly spaced stretches are read.

    Raises:
        UnreadableFile: The values cannot be read.
    """
    level, squares, counts = _Level(), RowSums(tensor, FEWEST_ROWS), RowSums(tensor, FEWEST_ROWS)
    for start, (value,) in values_of((tensor,), most):
        finite = np.where(np.isfinite(value), value, 0.0)
        level.add(start, value)
        with np.errstate(over="ignore"):
            squares.add(start, np.square(finite))
        counts.add(start, np.ones(len(value)))
    top, at, next_row, median, beyond = _standing_out(squares.sums, counts.sums)
    return WeightFacts(
        name=tensor.name,
        role=str(tensor.role),
        shape=tensor.shape,
        read=level.read,
        non_finite=level.non_finite,
        negative=level.negative,
        rms=level.rms,
        abs_max=level.top,
        largest_at=level.at,
        runner_up=level.runner_up,
        row_max=top,
        row_at=at,
        row_runner_up=next_row,
        row_median=median,
        row_beyond_few=beyond,
    )


class _Level:
    """Level and largest magnitudes of the finite part."""

    def __init__(self) -> None:
        self.read = self.non_finite = self.negative = self.at = 0
        self.top = self.runner_up = 0.0
        self._mean_square = 0.0

    @property
    def rms(self) -> float:
        """Root mean square, NaN where nothing is finite."""
        return sqrt(self._mean_square) if self.read > self.non_finite else nan

    def add(self, start: int, value: Doubles) -> None:
        """Add a stretch that begins at element ``start``."""
        size = np.abs(value)
        finite = np.isfinite(size)
        bad = len(size) - int(np.count_nonzero(finite))
        if bad:
            size = np.where(finite, size, 0.0)
        self.negative += int(np.count_nonzero((value < 0) & finite))
        before = self.read - self.non_finite
        self.read += len(size)
        self.non_finite += bad
        if good := len(size) - bad:
            with np.errstate(over="ignore"):  # float64 weights near its end: the level is infinite
                square = float(np.square(size).sum())
            self._mean_square += (square / good - self._mean_square) * good / (before + good)
        self._rank(start, size)

    def _rank(self, start: int, size: Doubles) -> None:
        place = int(size.argmax())
        top = float(size[place])
        if top <= self.runner_up:
            return
        rest = max(size[:place].max(initial=0.0), size[place + 1 :].max(initial=0.0))
        if top > self.top:
            self.runner_up = max(self.top, float(rest))
            self.top, self.at = top, start + place
        else:
            self.runner_up = top


def _standing_out(squares: Doubles, counts: Doubles) -> tuple[float, int, float, float, float]:
    """Highest level, its row, the next, the median of rows not zero, the highest but for a few."""
    if not counts.any():
        return 0.0, 0, 0.0, 0.0, 0.0
    level = np.sqrt(squares / np.maximum(counts, 1))
    at = int(level.argmax())
    alive = level[level > 0]
    median = float(np.median(alive)) if len(alive) else 0.0
    few = min(max(FEW_ROWS, int(len(level) * FEW_SHARE)), len(level) - 1)
    beyond = float(np.partition(level, -few - 1)[-few - 1])
    return float(level[at]), at, float(np.delete(level, at).max()), median, beyond
