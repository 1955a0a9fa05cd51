"""Joins pieces of one quantity: copies folded into the better one, forks cut at their history."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from forensics.loading.curves import AGREEING, Relation, agree, curve_of, fork_step, relate
from forensics.loading.rounding import agreement, coarseness
from forensics.run import Axis, Series, Values

Pieces = list[Series]
"""One quantity, in pieces, in the order in which they were written."""


def joined(old: Pieces, new: Pieces) -> Pieces | None:
    """One sequence where both log the same quantity of the same run, else None.

    Copies keep the better view and the points that only the other has. Where the two share a
    history and then differ, the shorter is an attempt that the longer one replaced.
    """
    one, other = curve_of(old), curve_of(new)
    if agree(one, other):
        return _folded(old, new)
    if relate(one, other) is Relation.FORK:
        short, long = sorted((old, new), key=lambda pieces: int(pieces[-1].step.max()))
        start = fork_step(one, other)
        return [*short, *(cut for piece in long if len((cut := _from(piece, start)).step))]
    return None


def _folded(old: Pieces, new: Pieces) -> Pieces:
    better, other = sorted((old, new), key=_quality, reverse=True)
    known = np.concatenate([piece.step for piece in better])
    pieces = list(better)
    for piece in other:
        extra = _only(piece, ~np.isin(piece.step, known))
        if len(extra.step):
            pieces = _with_points(pieces, extra)
    return pieces


def _quality(pieces: Pieces) -> tuple[int, float, int]:
    """More attempts, then less rounding, then more points."""
    step = np.concatenate([piece.step for piece in pieces])
    value = np.concatenate([piece.value for piece in pieces])
    return int(np.count_nonzero(np.diff(step) < 0)), -coarseness(value), len(step)


def _with_points(pieces: Pieces, extra: Series) -> Pieces:
    """Put single points into the piece they belong to: a piece of their own would be an attempt."""
    home = len(pieces) - 1
    if int(extra.step.min()) < int(pieces[0].step.min()) and len(pieces) > 1:
        home = 0
    return [*pieces[:home], _interleaved(pieces[home], extra), *pieces[home + 1 :]]


def _interleaved(piece: Series, extra: Series) -> Series:
    """Insert points by step; where the piece itself goes back, before its first higher step."""
    at = np.searchsorted(np.maximum.accumulate(piece.step), extra.step, side="right")
    wall = _walls(piece, extra, at)
    return replace(
        piece,
        step=np.insert(piece.step, at, extra.step),
        value=np.insert(piece.value, at, extra.value),
        wall_time=wall,
    )


def _walls(piece: Series, extra: Series, at: NDArray[np.intp]) -> Values | None:
    if piece.wall_time is None:
        return None
    unknown = np.full(len(extra.step), np.nan)
    return np.insert(piece.wall_time, at, unknown if extra.wall_time is None else extra.wall_time)


def _from(series: Series, start: int) -> Series:
    return _only(series, series.step >= start)


def _only(series: Series, keep: NDArray[np.bool_]) -> Series:
    wall = None if series.wall_time is None else series.wall_time[keep]
    return replace(series, step=series.step[keep], value=series.value[keep], wall_time=wall)


def by_order(counted: Pieces, rows: Pieces) -> Pieces | None:
    """Give steps to a log that has none: its values are those of ``counted``, in the same order.

    The last lines before a crash are often in the printed log alone. Its rows go on at the
    distance of the steps before.

    Returns:
        ``rows`` by step, or None where the values are not the same.
    """
    steps, values = counted[-1].step, counted[-1].value
    other = rows[0]
    n = min(len(steps), len(other.step))
    if len(counted) > 1 or len(rows) > 1 or n < 5 or other.axis is not Axis.ROW:
        return None
    same = agreement(values[:n], other.value[:n])
    if np.mean(same) < AGREEING or len(np.unique(values[: min(n, 100)])) < 3:
        return None
    moved = (np.diff(values[:n]) != 0) | (np.diff(other.value[:n]) != 0)
    if np.mean(same[1:][moved]) < AGREEING:
        return None  # a rate that mostly stands still agrees with itself at any distance
    beyond = np.arange(1, len(other.step) - n + 1) * int(np.median(np.diff(steps)))
    step = np.concatenate([steps[:n], steps[n - 1] + beyond]).astype(np.int64)
    return [replace(other, step=step, axis=counted[-1].axis)]


def are_disjoint(old: Sequence[Series], new: Sequence[Series]) -> bool:
    """True where one log ends before the other begins."""
    if old[0].axis != new[0].axis:
        return False
    first = [(int(p.step.min()), int(p.step.max())) for p in old]
    second = [(int(p.step.min()), int(p.step.max())) for p in new]
    return max(b for _, b in first) < min(a for a, _ in second) or max(b for _, b in second) < min(
        a for a, _ in first
    )
