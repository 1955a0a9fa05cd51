"""Keeps what was read: one table of numbers per layout, each row with its place in the file."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from forensics.readers._text.layout import Layout
from forensics.readers._text.numerals import tail_of, to_float

Ordinals = NDArray[np.int64]
Values = NDArray[np.float64]

_MOST_LAYOUTS = 5000  # a file with more prints something else than a log
_ZONE = re.compile(r"(?:Z|[+-]\d{2}:?\d{2})$")
_SHAPES_PER_BATCH = 32  # numbers looked at, of each column and batch, to learn how they are printed


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of one layout."""

    layout: Layout
    at: Ordinals
    """Shape (n,), increasing: the how-manieth line of the file, repaints counted."""
    values: Values
    """Shape (n, columns); NaN only where NaN was printed."""
    stamp: Values | None
    """Shape (n,), seconds since the epoch, where every line carries a time stamp."""
    tails: tuple[Counter[str], ...]
    """Per column: how the part after the point was printed, see `numerals.tail_of`."""

    def __len__(self) -> int:
        return len(self.at)


@dataclass(eq=False)
class _Table:
    at: list[Ordinals] = field(default_factory=list)
    values: list[Values] = field(default_factory=list)
    stamps: list[Values] = field(default_factory=list)
    tails: tuple[Counter[str], ...] = ()


class Store:
    """Collects rows while the file streams by."""

    def __init__(self) -> None:
        self._tables: dict[Layout, _Table] = {}

    def add(
        self,
        layout: Layout,
        at: Sequence[int],
        columns: Sequence[Sequence[str]],
        stamps: Sequence[str] | None = None,
    ) -> None:
        """Add rows.

        Args:
            layout: What the columns are.
            at: Place of each row in the file.
            columns: Per column of the layout, the numbers as printed.
            stamps: Time stamps as printed, where each row has one.

        Raises:
            ValueError: Something is not a number; nothing was added.
        """
        values = np.empty((len(at), len(columns)))
        for k, (texts, column) in enumerate(zip(columns, layout.columns, strict=True)):
            try:
                values[:, k] = list(map(float, texts))
            except ValueError:
                values[:, k] = list(map(to_float, texts))
            if column.scale != 1.0:
                values[:, k] *= column.scale
        if layout not in self._tables and len(self._tables) >= _MOST_LAYOUTS:
            return
        table = self._tables.setdefault(layout, _Table())
        if not table.tails:
            table.tails = tuple(Counter() for _ in columns)
        for tails, texts in zip(table.tails, columns, strict=True):
            tails.update(map(tail_of, texts[:_SHAPES_PER_BATCH]))
        table.at.append(np.asarray(at, dtype=np.int64))
        table.values.append(values)
        table.stamps.append(read_stamps(stamps) if stamps else np.full(len(at), np.nan))

    def tails(self, layout: Layout, column: int) -> Counter[str]:
        """How a column's numbers were printed so far."""
        table = self._tables.get(layout)
        return table.tails[column] if table is not None else Counter()

    def finish(self) -> list[Rows]:
        """Every table, its rows in the order of the file."""
        return [_merge(layout, table) for layout, table in self._tables.items()]


def _merge(layout: Layout, table: _Table) -> Rows:
    at = np.concatenate(table.at)
    order = np.argsort(at, kind="stable")
    stamp = np.concatenate(table.stamps)[order]
    return Rows(
        layout,
        at[order],
        np.concatenate(table.values)[order],
        None if np.isnan(stamp).any() else stamp,
        table.tails,
    )


def read_stamps(texts: Sequence[str]) -> Values:
    """Read time stamps such as ``2026-08-22 10:00:00,123``.

    Returns:
        Shape (n,), seconds since the epoch (a stamp without a zone is taken as UTC); NaN where
        it cannot be read.
    """
    if _ZONE.search(texts[0]):
        return np.array([_with_zone(text) for text in texts])
    joined = (
        "\n".join(texts).replace("/", "-").replace(",", ".").replace(" ", "T").replace("_", "T")
    )
    try:
        return np.array(joined.split("\n"), dtype="datetime64[us]").astype(np.float64) / 1e6
    except ValueError:
        return np.full(len(texts), np.nan)


def _with_zone(text: str) -> float:
    try:
        return datetime.fromisoformat(text.replace("/", "-").replace(",", ".")).timestamp()
    except ValueError:
        return float("nan")
