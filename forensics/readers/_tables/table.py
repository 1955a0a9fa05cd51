"""A table as read: sparse columns of numbers, and the few columns of text that name things.

A column holds only what was logged: the rows that have a value, and the values. So a point that
was not logged is absent, and a logged NaN is a NaN.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Column:
    """One quantity: shape (n,) row numbers, increasing, and shape (n,) values."""

    rows: Rows
    values: Numbers

    def spread(self, length: int) -> Numbers:
        """Shape (length,): the value of each row, NaN where the row has none."""
        dense = np.full(length, np.nan)
        dense[self.rows] = self.values
        return dense


@dataclass(frozen=True, eq=False)
class Labels:
    """One column of text: shape (n,) row numbers and shape (n,) places in ``names``."""

    rows: Rows
    codes: Rows
    names: tuple[str, ...]

    def spread(self, length: int) -> Rows:
        """Shape (length,): the place in ``names`` of each row's text, -1 where it has none."""
        dense = np.full(length, -1, np.int64)
        dense[self.rows] = self.codes
        return dense


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in file order."""

    length: int
    columns: Mapping[str, Column]
    labels: Mapping[str, Labels] = field(default_factory=dict)

    def keep(self, mask: NDArray[np.bool_]) -> "Table":
        """The rows of ``mask``, shape (length,), numbered anew."""
        new_row = np.cumsum(mask, dtype=np.int64) - 1
        columns, labels = {}, {}
        for name, column in self.columns.items():
            chosen = mask[column.rows]
            if chosen.any():
                columns[name] = Column(new_row[column.rows[chosen]], column.values[chosen])
        for name, text in self.labels.items():
            chosen = mask[text.rows]
            if chosen.any():
                labels[name] = Labels(new_row[text.rows[chosen]], text.codes[chosen], text.names)
        return Table(int(mask.sum()), columns, labels)


@dataclass
class _Growing:
    """A column while it is read: finished pieces and the single rows since the last of them."""

    pieces: list[tuple[Rows, Numbers]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add_piece(self, rows: Rows, values: Numbers) -> None:
        self.flush()
        self.pieces.append((rows, values))

    def flush(self) -> None:
        if self.rows:
            self.pieces.append((np.array(self.rows, np.int64), np.array(self.values, np.float64)))
            self.rows, self.values = [], []

    def finish(self, joined: dict[tuple[int, ...], Rows]) -> tuple[Rows, Numbers]:
        """The whole column; columns of the same rows share them through ``joined``."""
        self.flush()
        parts = [rows for rows, _ in self.pieces]
        values = np.concatenate([values for _, values in self.pieces])
        if any(after[0] < before[-1] for before, after in pairwise(parts)):
            rows = np.concatenate(parts)  # several layouts of lines take turns
            order = np.argsort(rows, kind="stable")
            return rows[order], values[order]
        key = tuple(map(id, parts))
        if key not in joined:
            joined[key] = np.concatenate(parts)
        return joined[key], values


class TableBuilder:
    """Collects rows, singly or in bulk; names keep the order in which they first appear."""

    def __init__(self) -> None:
        self.length = 0
        self._columns: dict[str, _Growing] = {}
        self._labels: dict[str, _Growing] = {}
        self._codes: dict[str, dict[str, int]] = {}

    def add_row(self, cells: Iterable[tuple[str, float | str]]) -> None:
        """Add one row; a number goes into a column, text into the labels."""
        row = self.length
        for name, cell in cells:
            if isinstance(cell, str):
                column, value = self._label_column(name), float(self._code(name, cell))
            else:
                column, value = self._column(name), cell
            if not column.rows or column.rows[-1] != row:
                column.rows.append(row)
                column.values.append(value)
        self.length += 1

    def add_values(self, name: str, rows: Rows, values: Numbers) -> None:
        """Add shape (n,) values of one column at shape (n,) increasing rows."""
        self._column(name).add_piece(rows, values)

    def add_label(self, name: str, rows: Rows, text: str) -> None:
        """Say that ``text`` stands in column ``name`` at each of the rows, shape (n,)."""
        codes = np.full(len(rows), float(self._code(name, text)))
        self._label_column(name).add_piece(rows, codes)

    def table(self) -> Table:
        """What was collected."""
        joined: dict[tuple[int, ...], Rows] = {}
        columns = {name: Column(*grown.finish(joined)) for name, grown in self._columns.items()}
        labels = {}
        for name, grown in self._labels.items():
            rows, codes = grown.finish(joined)
            labels[name] = Labels(rows, codes.astype(np.int64), tuple(self._codes[name]))
        return Table(self.length, columns, labels)

    def _column(self, name: str) -> _Growing:
        return self._columns.setdefault(name, _Growing())

    def _label_column(self, name: str) -> _Growing:
        return self._labels.setdefault(name, _Growing())

    def _code(self, name: str, text: str) -> int:
        codes = self._codes.setdefault(name, {})
        return codes.setdefault(text, len(codes))
