"""Rows with their x, and the track of all x that a file tells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensics.readers._text.counters import Role
from forensics.readers._text.rows import Ordinals, Rows, Values
from forensics.run import Axis

_LARGEST = float(2**53)  # what is counted beyond is damage


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows with their x."""

    rows: Rows
    x: Ordinals
    """Shape (n,)."""
    axis: Axis


@dataclass(frozen=True, eq=False)
class Track:
    """Where in the file which x was told."""

    at: Ordinals
    """Shape (n,), increasing."""
    x: Values
    """Shape (n,)."""

    def before(self, at: Ordinals) -> Values:
        """The last x told before each place, shape of ``at``; NaN where there is none."""
        if not len(self.at):
            return np.full(len(at), np.nan)
        index = np.searchsorted(self.at, at) - 1
        return np.where(index >= 0, self.x[np.maximum(index, 0)], np.nan)


def track_of(parts: Sequence[tuple[Rows, NDArray[Any]]]) -> Track:
    """The track of rows with an x each."""
    if not parts:
        return Track(np.empty(0, np.int64), np.empty(0))
    at = np.concatenate([rows.at for rows, _ in parts])
    x = np.concatenate([np.asarray(x, dtype=np.float64) for _, x in parts])
    order = np.argsort(at, kind="stable")
    return Track(at[order], x[order])


def column_of(rows: Rows, *roles: Role) -> Values:
    """Shape (n,): the first column with one of these roles; NaN where there is none."""
    for role in roles:
        column = rows.layout.find(role)
        if column is not None:
            return rows.values[:, column]
    return np.full(len(rows), np.nan)


def are_whole(epochs: Values) -> bool:
    """Whether every epoch is known and none is a fraction."""
    return bool(np.isfinite(epochs).all()) and bool((epochs == np.rint(epochs)).all())


def to_steps(values: Values) -> Ordinals:
    """Whole numbers, shape of ``values``; 0 where it is none."""
    finite = np.where(np.isfinite(values), values, 0.0)
    steps: Ordinals = np.rint(np.clip(finite, -_LARGEST, _LARGEST)).astype(np.int64)
    return steps
