"""Finds the x of every row: its step where one is told or follows, else its epoch, else its place.

A line may tell a step; an epoch and an iteration in it; only an epoch; or nothing. What a line
does not tell follows from the lines around it, and only what follows from nothing is counted by
its place in the file.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from forensics.readers._text.context import place_by_context
from forensics.readers._text.counters import Role
from forensics.readers._text.counts import place_by_counts
from forensics.readers._text.epoch_steps import steps_of_epochs
from forensics.readers._text.layout import Kind
from forensics.readers._text.placed import Placed, column_of, to_steps, track_of
from forensics.readers._text.rounded import unround
from forensics.readers._text.rows import Rows
from forensics.run import Axis


def place(tables: Sequence[Rows], settings: Mapping[str, Any]) -> tuple[list[Placed], list[str]]:
    """Find the x of all rows.

    Args:
        tables: Everything read from the file.
        settings: What the file says about its own run (``logging_steps``, ``max_steps`` …).

    Returns:
        The tables that can be placed, and what the user should know about how.
    """
    notes: list[str] = []
    tables = [_ends(rows) if rows.layout.kind is Kind.EVALUATION else rows for rows in tables]
    found = [(rows, rows.layout.find(Role.EPOCH)) for rows in tables]
    epochs = track_of([(rows, rows.values[:, k]) for rows, k in found if k is not None])
    told = [*_by_steps(tables), *place_by_counts(tables, epochs, notes)]
    if not any(placed.rows.layout.kind is not Kind.BAR for placed in told):
        bars = [placed.rows for placed in told if not placed.rows.layout.tags]
        dicts = steps_of_epochs(_others(tables, told), bars, settings)
        told += [Placed(rows, x, Axis.STEP) for rows, x in dicts]
    rest = [rows for rows in _others(tables, told) if rows.layout.tags]
    return [*told, *place_by_context(rest, told, epochs)], notes


def _ends(rows: Rows) -> Rows:
    """The last line of each evaluation: before the count of its batches starts again."""
    done = column_of(rows, Role.PART)
    last = np.append(np.diff(done) <= 0, True)
    stamp = None if rows.stamp is None else rows.stamp[last]
    return replace(rows, at=rows.at[last], values=rows.values[last], stamp=stamp)


def _others(tables: Sequence[Rows], told: Iterable[Placed]) -> list[Rows]:
    done = {id(placed.rows) for placed in told}
    return [rows for rows in tables if id(rows) not in done]


def _by_steps(tables: Sequence[Rows]) -> list[Placed]:
    """Rows that tell a step which never starts again, or repaint the mean of an epoch they tell."""
    placed = []
    for rows in tables:
        column, epoch = rows.layout.find(Role.GLOBAL), rows.layout.find(Role.EPOCH)
        if column is not None:
            x = unround(rows.values[:, column], rows.tails[column])
            placed.append(Placed(rows, x, Axis.STEP))
        elif rows.layout.kind is Kind.KERAS and epoch is not None:
            placed.append(Placed(rows, to_steps(rows.values[:, epoch]), Axis.EPOCH))
    return placed
