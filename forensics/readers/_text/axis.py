"""Finds the x of every row: its step where one is told or follows, else its epoch, else its place.

A line may tell a step; an epoch and an iteration in it; only an epoch; or nothing. What a line
does not tell follows from the lines around it, and only what follows from nothing is counted by
its place in the file.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensics.readers._text.counters import Role
from forensics.readers._text.epoch_steps import steps_of_epochs
from forensics.readers._text.grammar import Kind
from forensics.readers._text.rounded import unround
from forensics.readers._text.rows import Ordinals, Rows, Values
from forensics.run import Axis
from forensics.signals import Signal, classify

_REPEATED = 0.2  # share of rows that repeat an x above which the x says nothing


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
        index = np.searchsorted(self.at, at) - 1
        if not len(self.at):
            return np.full(len(at), np.nan)
        return np.where(index >= 0, self.x[np.maximum(index, 0)], np.nan)


def place(tables: Sequence[Rows], settings: Mapping[str, Any]) -> tuple[list[Placed], list[str]]:
    """Find the x of all rows.

    Args:
        tables: Everything read from the file.
        settings: What the file says about its own run (``logging_steps``, ``max_steps`` …).

    Returns:
        The tables that can be placed, and what the user should know about how.
    """
    notes: list[str] = []
    epochs = _track(
        [(t, t.values[:, k]) for t in tables if (k := t.layout.find(Role.EPOCH)) is not None]
    )
    told = [*_by_steps(tables), *_by_counts(tables, epochs, notes)]
    done = {id(placed.rows) for placed in told}
    rest = [rows for rows in tables if id(rows) not in done]
    if not any(placed.rows.layout.kind is not Kind.BAR for placed in told):
        by_epochs = steps_of_epochs(
            rest, [p.rows for p in told if not p.rows.layout.tags], settings
        )
        told += [Placed(rows, x, Axis.STEP) for rows, x in by_epochs]
        done = {id(placed.rows) for placed in told}
        rest = [rows for rows in rest if id(rows) not in done]
    return [*told, *_by_context([r for r in rest if r.layout.tags], told, epochs)], notes


def step_track(placed: Sequence[Placed]) -> Track:
    """The steps that the file tells, for events to be placed by."""
    sources = [p for p in placed if p.axis in (Axis.STEP, Axis.SAMPLES) and _tells(p.rows)]
    return _track([(p.rows, p.x) for p in sources])


def _tells(rows: Rows) -> bool:
    return any(column.role is not Role.VALUE for column in rows.layout.columns)


def _track(parts: Sequence[tuple[Rows, NDArray[Any]]]) -> Track:
    if not parts:
        return Track(np.empty(0, np.int64), np.empty(0))
    at = np.concatenate([rows.at for rows, _ in parts])
    x = np.concatenate([np.asarray(x, dtype=np.float64) for _, x in parts])
    order = np.argsort(at, kind="stable")
    return Track(at[order], x[order])


def _by_steps(tables: Sequence[Rows]) -> list[Placed]:
    """Rows that tell a step which never starts again, or repaint the mean of an epoch they tell."""
    placed = []
    for rows in tables:
        column, epoch = rows.layout.find(Role.GLOBAL), rows.layout.find(Role.EPOCH)
        if column is not None:
            x = unround(rows.values[:, column], rows.tails[column])
            placed.append(Placed(rows, x, Axis.STEP))
        elif rows.layout.kind is Kind.KERAS and epoch is not None:
            placed.append(Placed(rows, unround(rows.values[:, epoch], {}), Axis.EPOCH))
    return placed


def _by_counts(tables: Sequence[Rows], epochs: Track, notes: list[str]) -> list[Placed]:
    """Rows that count iterations or samples, perhaps anew in each epoch."""
    groups: dict[tuple[Any, ...], list[Rows]] = defaultdict(list)
    for rows in tables:
        layout = rows.layout
        count = layout.find(Role.COUNT)
        samples = layout.find(Role.SAMPLES)
        column = count if count is not None else samples
        own = layout.find(Role.EPOCH) is not None
        mean = layout.kind is Kind.KERAS and own
        if layout.find(Role.GLOBAL) is None and column is not None and not mean:
            values = layout.kind is not Kind.BAR or bool(rows.layout.tags)
            groups[
                layout.columns[column].tag, layout.columns[column].role, own, layout.kind, values
            ].append(rows)
    whole = [e for e in epochs.x if e == int(e)] if len(epochs.x) else []
    base = 0 if whole and min(whole) == 0 else 1
    placed: list[Placed] = []
    for group in groups.values():
        placed += _place_group(_Group.of(group, epochs), base, notes)
    return placed


@dataclass(frozen=True, eq=False)
class _Group:
    """Tables that count alike, joined in the order of the file."""

    tables: list[Rows]
    order: NDArray[np.intp]
    """Shape (n,): brings the tables' rows, one table after the other, into order."""
    count: Values
    total: Values
    """Shape (n,); NaN where the line does not tell it."""
    epoch: Values
    """Shape (n,); NaN where none was told."""
    own_epoch: bool

    @classmethod
    def of(cls, tables: list[Rows], epochs: Track) -> "_Group":
        at = np.concatenate([rows.at for rows in tables])
        order = np.argsort(at, kind="stable")
        own = tables[0].layout.find(Role.EPOCH) is not None
        count = np.concatenate([_column(rows, Role.COUNT, Role.SAMPLES) for rows in tables])
        total = np.concatenate([_column(rows, Role.TOTAL) for rows in tables])
        epoch = np.concatenate(
            [_column(r, Role.EPOCH) if own else epochs.before(r.at) for r in tables]
        )
        return cls(tables, order, count[order], total[order], epoch[order], own)

    def spread(self, x: Values, axis: Axis) -> list[Placed]:
        """Give each table its part of ``x``, shape (n,) in the order of the file."""
        unsorted = np.empty(len(x))
        unsorted[self.order] = x
        ends = np.cumsum([len(rows) for rows in self.tables])
        parts = np.split(np.rint(unsorted).astype(np.int64), ends[:-1])
        return [Placed(rows, part, axis) for rows, part in zip(self.tables, parts, strict=True)]


def _whole(epoch: Values) -> bool:
    """Whether every epoch is known and none is a fraction."""
    return bool(np.isfinite(epoch).all()) and bool((epoch == np.rint(epoch)).all())


def _column(rows: Rows, *roles: Role) -> Values:
    for role in roles:
        column = rows.layout.find(role)
        if column is not None:
            return rows.values[:, column]
    return np.full(len(rows), np.nan)


def _place_group(group: _Group, base: int, notes: list[str]) -> list[Placed]:
    layout = group.tables[0].layout
    samples = layout.find(Role.COUNT) is None
    axis = Axis.SAMPLES if samples else Axis.STEP
    name = next(c.tag for c in layout.columns if c.role in (Role.COUNT, Role.SAMPLES))
    known = _whole(group.epoch)
    if layout.kind is Kind.KERAS:
        epoch = group.epoch if known else _implied_epochs(group) + 1
        return group.spread(epoch, Axis.EPOCH)
    if known and _within_epoch(group, name, base):
        length, guessed = _length(group)
        if guessed and len(np.unique(group.epoch)) > 1:
            notes.append(f"the log does not tell the length of an epoch; taken as {length[0]:.0f}")
        return group.spread((group.epoch - base) * length + group.count, axis)
    if not known and (layout.kind is Kind.BAR or samples or not name):
        length, _ = _length(group)
        return group.spread(_implied_epochs(group) * length + group.count, axis)
    return group.spread(group.count, axis)


def _within_epoch(group: _Group, name: str, base: int) -> bool:
    """Whether the count starts again with each epoch."""
    rises = np.diff(group.epoch) > 0
    if rises.any():
        return bool((np.diff(group.count)[rises] <= 0).mean() > 0.5)
    if "batch" in name:
        return True
    return group.own_epoch and bool(group.epoch[0] > base) and bool(np.isfinite(group.total).any())


def _length(group: _Group) -> tuple[Values, bool]:
    """Iterations per epoch, shape (n,), and whether they had to be guessed."""
    if np.isfinite(group.total).all():
        return group.total, False
    gaps = np.diff(np.unique(group.count))
    missing = float(np.min(gaps)) if len(gaps) and group.count.min() == 0 else 0.0
    return np.full(len(group.count), group.count.max() + missing), True


def _implied_epochs(group: _Group) -> Values:
    """Shape (n,): how often the count had started again after running to its end."""
    full = group.count[:-1] >= 0.9 * np.nan_to_num(group.total[:-1], nan=np.inf)
    again = np.diff(group.count) < 0
    return np.concatenate([[0.0], np.cumsum(again & full)])


def _by_context(rest: Sequence[Rows], told: Sequence[Placed], epochs: Track) -> list[Placed]:
    """Rows that tell no step: the last one before them, else their epoch, else their place."""
    own = [p for p in told if p.rows.layout.kind is not Kind.BAR]
    own = own or [p for p in told if p.rows.layout.tags]
    steps = step_track(own or told)
    axis = next((p.axis for p in told if p.axis is Axis.SAMPLES), Axis.STEP)
    placed: list[Placed] = []
    unplaced: list[Rows] = []
    dicts = [rows for rows in rest if rows.layout.kind in (Kind.DICT, Kind.FINAL)]
    fractions = not all(_whole(_column(rows, Role.EPOCH)) for rows in dicts)
    for rows in rest:
        if len(steps.at) and (own or rows.layout.kind not in (Kind.DICT, Kind.FINAL)):
            before = steps.before(rows.at)
            x = np.where(np.isnan(before), _start(steps), before).astype(np.int64)
            if not _repeats(x):
                placed.append(Placed(rows, x, axis))
                continue
        epoch = _column(rows, Role.EPOCH)
        epoch = epochs.before(rows.at) if np.isnan(epoch).all() else epoch
        split = fractions and rows.layout.kind in (Kind.DICT, Kind.FINAL)
        if _whole(epoch) and not _repeats(epoch) and not split:
            placed.append(Placed(rows, epoch.astype(np.int64), Axis.EPOCH))
        else:
            unplaced.append(rows)
    return placed + _by_place(unplaced)


def _start(steps: Track) -> int:
    """The step of what was measured before the first one: 0, unless the run begins later."""
    gaps = np.diff(np.unique(steps.x))
    gap = float(np.median(gaps)) if len(gaps) else 0.0
    return 0 if steps.x[0] <= 2 * max(gap, 1.0) else int(steps.x[0])


def _repeats(x: NDArray[Any]) -> bool:
    return len(x) > 1 and float((np.diff(x) == 0).mean()) > _REPEATED


def _by_place(tables: Sequence[Rows]) -> list[Placed]:
    """Count by the rows that hold the training loss; whatever else by those before it."""
    losses = [rows for rows in tables if _logs_loss(rows)] or list(tables)[:1]
    ticks = np.sort(np.concatenate([rows.at for rows in losses])) if losses else np.empty(0)
    placed = []
    for rows in tables:
        x = np.searchsorted(ticks, rows.at, side="right").astype(np.int64)
        x = np.arange(1, len(x) + 1, dtype=np.int64) if _repeats(x) else x
        placed.append(Placed(rows, x, Axis.ROW))
    return placed


def _logs_loss(rows: Rows) -> bool:
    return any(
        c.role is Role.VALUE and classify(c.tag) is Signal.TRAIN_LOSS for c in rows.layout.columns
    )
