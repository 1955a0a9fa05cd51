"""Puts the points of each tag together."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from forensics.readers._text.absent import Absent
from forensics.readers._text.counters import Role
from forensics.readers._text.layout import Kind
from forensics.readers._text.placed import Placed, are_whole
from forensics.readers._text.repaints import Told
from forensics.readers._text.rows import Ordinals, Values
from forensics.run import Axis, Series
from forensics.signals import Signal, classify

AT_EVALUATION = " (at evaluation)"
EPOCH_MEAN = " (epoch mean)"
_BURST = 256  # lines within which several ranks print one step
_MOST_TAGS = 4000
_MOST_DECIMALS = 8


@dataclass(frozen=True, eq=False)
class Points:
    """Some points of one tag."""

    tag: str
    at: Ordinals
    x: Ordinals
    value: Values
    axis: Axis
    stamp: Values | None = None
    tails: Counter[str] | None = None
    last_wins: bool = False
    """Of several points at one x the last is the final one (a mean that grew)."""


def points_of(placed: Sequence[Placed]) -> list[Points]:
    """The points of all tables but the progress bars."""
    renamed = _suffixes(placed)
    found: list[Points] = []
    for p in placed:
        layout = p.rows.layout
        if layout.kind is Kind.BAR:
            continue
        for k, column in enumerate(layout.columns):
            epoch = column.role is Role.EPOCH and layout.kind is Kind.DICT
            if column.role is Role.VALUE or epoch:
                loss = classify(column.tag) is Signal.TRAIN_LOSS
                tag = column.tag + (renamed.get(id(p), "") if loss else "")
                keras = layout.kind is Kind.KERAS
                rows = p.rows
                found.append(
                    Points(
                        tag,
                        rows.at,
                        p.x,
                        rows.values[:, k],
                        p.axis,
                        rows.stamp,
                        rows.tails[k],
                        keras,
                    )
                )
    return found


def points_of_epochs(placed: Sequence[Placed]) -> list[Points]:
    """The epoch of each line that tells its step too, where epochs are no fractions."""
    found = []
    for p in placed:
        column = p.rows.layout.find(Role.EPOCH)
        if column is None or p.axis is not Axis.STEP or p.rows.layout.kind is Kind.DICT:
            continue
        epoch = p.rows.values[:, column]
        if are_whole(epoch):
            found.append(Points("epoch", p.rows.at, p.x, epoch, p.axis, last_wins=True))
    return found


def points_told(told: Iterable[Told]) -> list[Points]:
    """The points of progress bars."""
    return [Points(t.tag, t.at, t.x, t.value, Axis.STEP, last_wins=True) for t in told]


def points_absent(absent: Iterable[Absent]) -> list[Points]:
    """NaN where a loss was absent because it was NaN."""
    return [
        Points(a.tag, a.at, a.x, np.full(len(a.at), np.nan), Axis.STEP, a.stamp) for a in absent
    ]


def build(
    points: Iterable[Points], source: str, borders: Ordinals | None = None
) -> tuple[Series, ...]:
    """Join the points of each tag, in the order of the file.

    Args:
        points: Of any tags.
        source: Path of the file, relative to the run directory.
        borders: Shape (n,), increasing: places at which another attempt begins.
    """
    groups: dict[tuple[str, Axis], list[Points]] = defaultdict(list)
    for p in points:
        if len(p.at) and (len(groups) < _MOST_TAGS or (p.tag, p.axis) in groups):
            groups[p.tag, p.axis].append(p)
    known = np.empty(0, np.int64) if borders is None else borders
    return tuple(_join(group, source, known) for group in groups.values())


def _join(group: list[Points], source: str, borders: Ordinals) -> Series:
    at = np.concatenate([p.at for p in group])
    order = np.argsort(at, kind="stable")
    at, x = at[order], np.concatenate([p.x for p in group])[order]
    value = np.concatenate([p.value for p in group])[order]
    stamps = [p.stamp for p in group if p.stamp is not None]
    wall = np.concatenate(stamps)[order] if len(stamps) == len(group) else None
    again = np.diff(x) == 0
    if any(p.last_wins for p in group):
        keep = np.append(~again, True)
    else:
        near = np.diff(at) <= _BURST
        same_attempt = np.diff(np.searchsorted(borders, at)) == 0
        keep = np.insert(~(again & near & same_attempt), 0, True)
    return Series(
        group[0].tag,
        x[keep],
        value[keep],
        source,
        None if wall is None else wall[keep],
        group[0].axis,
        digits=_digits([p.tails for p in group]),
    )


def _digits(tails: Sequence[Counter[str] | None]) -> int | None:
    """Decimals printed, where every number was printed with the same, or zeros were left off."""
    total: Counter[str] = Counter()
    for some in tails:
        total.update(some or {})
    decimals = {
        len(t) - 1: n for t, n in total.items() if t.startswith(".") and set(t[1:]) <= {"0"}
    }
    if not decimals:
        return None
    usual = max(decimals, key=lambda n: decimals[n])
    fixed = decimals[usual] >= 0.8 * total.total()
    return usual if fixed and 0 < usual <= _MOST_DECIMALS else None


def _suffixes(placed: Sequence[Placed]) -> dict[int, str]:
    """For tables whose training loss is a mean: what to add to its tag.

    A line with both losses is an evaluation's, a line that knows only the epoch is an epoch's;
    where the same file logs the loss by steps as well, the two must not be mixed.
    """
    lines = [p for p in placed if p.rows.layout.kind in (Kind.LINE, Kind.BOX)]
    lines = [p for p in lines if _has(p, Signal.TRAIN_LOSS)]
    kinds = {id(p): _suffix(p) for p in lines}
    plain = sum(len(p.rows) for p in lines if not kinds[id(p)])
    return {id(p): kinds[id(p)] for p in lines if len(p.rows) <= plain}


def _suffix(placed: Placed) -> str:
    layout = placed.rows.layout
    if _has(placed, Signal.EVAL_LOSS):
        return AT_EVALUATION
    epochal = layout.find(Role.EPOCH) is not None and layout.find(Role.COUNT) is None
    return EPOCH_MEAN if epochal and layout.find(Role.SAMPLES) is None else ""


def _has(placed: Placed, signal: Signal) -> bool:
    columns = placed.rows.layout.columns
    return any(c.role is Role.VALUE and classify(c.tag) is signal for c in columns)
