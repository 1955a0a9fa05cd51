"""Sums over the rows (first axis) of a tensor that is read in stretches."""

import numpy as np

from forensics.checkpoints import StoredTensor
from forensics.scan.element_types import Doubles

MOST_ROWS = 1 << 20
"""More are no rows of a matrix that a person would call so."""


class RowSums:
    """One sum a row; a row of which only a part was read has the sum of that part."""

    def __init__(self, tensor: StoredTensor, fewest: int = 1) -> None:
        rows = tensor.shape[0] if len(tensor.shape) > 1 else 0
        wanted = tensor.size > 0 and fewest <= rows <= MOST_ROWS
        self._width = tensor.size // rows if wanted else 0
        self.sums: Doubles = np.zeros(rows if wanted else 0)
        """Shape (rows,); (0,) for a vector and where there are too few or too many rows."""

    def add(self, start: int, value: Doubles) -> None:
        """Add a stretch, shape (n,), that begins at element ``start``."""
        if self._width:
            first, last = start // self._width, (start + len(value) - 1) // self._width
            edges = np.maximum(np.arange(first, last + 1) * self._width - start, 0)
            self.sums[first : last + 1] += np.add.reduceat(value, edges)
