"""NaN that the writer of a table left out: pandas writes it as an empty cell, orjson as null.

Such a cell looks like one that was not logged. But a loss that was logged in every row in which
another quantity was, and then no finite one any more while that quantity goes on, became NaN.
Where the file spells a NaN elsewhere, its writer does not leave them out, and nothing is added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from forensics.readers._tables.table import Column, Rows, Table
from forensics.readers._tables.training import is_metric
from forensics.signals import Signal, classify

_LOSSES = frozenset({Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH, Signal.EVAL_LOSS})
_LEAST = 3  # rows together before, and rows alone after


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A loss, the quantity that goes on without it, and shape (n,) the rows in which it does."""

    tag: str
    companion: str
    rows: Rows


def find_left_out(table: Table) -> list[LeftOut]:
    """The losses that end in left-out NaN."""
    metrics = {name: column for name, column in table.columns.items() if is_metric(name)}
    spelled = any(np.isnan(column.values).any() for column in table.columns.values())
    found = []
    for tag, loss in metrics.items():
        if classify(tag) not in _LOSSES or len(loss.rows) < _LEAST:
            continue
        alone = {name: _alone(loss, column) for name, column in metrics.items()}
        companion = max(alone, key=lambda name: len(alone[name]))
        count = len(alone[companion])
        if count and (np.isnan(loss.values[-1]) or (count >= _LEAST and not spelled)):
            found.append(LeftOut(tag, companion, alone[companion]))
    return found


def _alone(loss: Column, other: Column) -> Rows:
    """The rows in which ``other`` goes on after the last number of ``loss``.

    None where they were not always together before.
    """
    numbers = np.flatnonzero(~np.isnan(loss.values))
    if other.rows is loss.rows or not len(numbers):
        return other.rows[:0]
    last = numbers[-1]
    count = int(np.searchsorted(other.rows, loss.rows[last], "right"))
    if not np.array_equal(other.rows[:count], loss.rows[: last + 1]):
        return other.rows[:0]
    after = other.rows[count:]
    return after[~np.isin(after, loss.rows[last + 1 :])]


def with_left_out(table: Table, found: list[LeftOut]) -> Table:
    """The table with a NaN in each of these rows."""
    columns: Mapping[str, Column] = table.columns
    for one in found:
        column = columns[one.tag]
        rows = np.concatenate([column.rows, one.rows])
        values = np.concatenate([column.values, np.full(len(one.rows), np.nan)])
        order = np.argsort(rows, kind="stable")
        columns = {**columns, one.tag: Column(rows[order], values[order])}
    return replace(table, columns=columns)
