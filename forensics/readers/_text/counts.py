"""Steps of rows that count iterations or samples, perhaps anew in each epoch."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forensics.readers._text.counters import Role
from forensics.readers._text.layout import Kind
from forensics.readers._text.placed import Placed, Track, are_whole, column_of, to_steps
from forensics.readers._text.rows import Rows, Values
from forensics.run import Axis

_RAN_TO_ITS_END = 0.9  # share of the total at which a count that starts again had finished


@dataclass(frozen=True)
class _Make:
    """What tables that count alike have in common."""

    name: str
    samples: bool
    own_epoch: bool
    kind: Kind
    shows: bool
    """False for a progress bar that shows nothing but its count."""


def place_by_counts(tables: Sequence[Rows], epochs: Track, notes: list[str]) -> list[Placed]:
    """Find the step of every row that counts.

    Args:
        tables: Of any kind.
        epochs: The epochs that the file tells, on these lines or others.
        notes: What the user should know is added here.
    """
    makes: dict[_Make, list[Rows]] = defaultdict(list)
    for rows in tables:
        make = _make_of(rows)
        if make is not None:
            makes[make].append(rows)
    whole = epochs.x[epochs.x == np.rint(epochs.x)]
    base = 0 if len(whole) and whole.min() == 0 else 1
    placed: list[Placed] = []
    for make, group in makes.items():
        placed += _place(_Group.of(make, group, epochs), base, notes)
    return placed


def _make_of(rows: Rows) -> _Make | None:
    layout = rows.layout
    count, samples = layout.find(Role.COUNT), layout.find(Role.SAMPLES)
    column = count if count is not None else samples
    own = layout.find(Role.EPOCH) is not None
    if (
        column is None
        or layout.find(Role.GLOBAL) is not None
        or (layout.kind is Kind.KERAS and own)
    ):
        return None
    shows = layout.kind is not Kind.BAR or bool(layout.tags)
    return _Make(layout.columns[column].tag, count is None, own, layout.kind, shows)


@dataclass(frozen=True, eq=False)
class _Group:
    """Tables that count alike, joined in the order of the file."""

    make: _Make
    tables: list[Rows]
    order: NDArray[np.intp]
    """Shape (n,): brings the tables' rows, one table after the other, into order."""
    count: Values
    total: Values
    """Shape (n,); NaN where the line does not tell it."""
    epoch: Values
    """Shape (n,); NaN where none was told."""

    @classmethod
    def of(cls, make: _Make, tables: list[Rows], epochs: Track) -> "_Group":
        order = np.argsort(np.concatenate([rows.at for rows in tables]), kind="stable")
        count = np.concatenate([column_of(rows, Role.COUNT, Role.SAMPLES) for rows in tables])
        total = np.concatenate([column_of(rows, Role.TOTAL) for rows in tables])
        told = [column_of(t, Role.EPOCH) if make.own_epoch else epochs.before(t.at) for t in tables]
        return cls(make, tables, order, count[order], total[order], np.concatenate(told)[order])

    def spread(self, x: Values, axis: Axis) -> list[Placed]:
        """Give each table its part of ``x``, shape (n,) in the order of the file."""
        unsorted = np.empty(len(x))
        unsorted[self.order] = x
        ends = np.cumsum([len(rows) for rows in self.tables])
        parts = np.split(to_steps(unsorted), ends[:-1])
        return [Placed(rows, part, axis) for rows, part in zip(self.tables, parts, strict=True)]


def _place(group: _Group, base: int, notes: list[str]) -> list[Placed]:
    make = group.make
    axis = Axis.SAMPLES if make.samples else Axis.STEP
    known = are_whole(group.epoch)
    if make.kind is Kind.KERAS:
        return group.spread(group.epoch if known else _implied_epochs(group) + 1, Axis.EPOCH)
    if known and _starts_again(group, base):
        length, guessed = _length(group)
        if guessed and len(np.unique(group.epoch)) > 1:
            notes.append(f"the log does not tell the length of an epoch; taken as {length[0]:.0f}")
        return group.spread((group.epoch - base) * length + group.count, axis)
    if not known and (make.kind is Kind.BAR or make.samples or not make.name):
        return group.spread(_implied_epochs(group) * _length(group)[0] + group.count, axis)
    return group.spread(group.count, axis)


def _starts_again(group: _Group, base: int) -> bool:
    """Whether the count starts again with each epoch."""
    rises = np.diff(group.epoch) > 0
    if rises.any():
        return bool((np.diff(group.count)[rises] <= 0).mean() > 0.5)
    if "batch" in group.make.name:
        return True
    begun = group.make.own_epoch and bool(group.epoch[0] > base)
    return begun and bool(np.isfinite(group.total).any())


def _length(group: _Group) -> tuple[Values, bool]:
    """Iterations per epoch, shape (n,), and whether they had to be guessed."""
    if np.isfinite(group.total).all():
        return group.total, False
    gaps = np.diff(np.unique(group.count))
    missing = float(np.min(gaps)) if len(gaps) and group.count.min() == 0 else 0.0
    return np.full(len(group.count), group.count.max() + missing), True


def _implied_epochs(group: _Group) -> Values:
    """Shape (n,): how often the count had started again after running to its end."""
    full = group.count[:-1] >= _RAN_TO_ITS_END * np.nan_to_num(group.total[:-1], nan=np.inf)
    again = np.diff(group.count) < 0
    return np.concatenate([[0.0], np.cumsum(again & full)])
