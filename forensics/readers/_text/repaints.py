"""Which repaints of a progress bar tell something new.

tqdm draws ``loss=…`` again and again, and counts either before or after the loss of an iteration
is known; it may also draw several losses before its count moves on. What a repaint carries
along unchanged (the last validation loss, the mean of the last epoch) is told once.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forensics.readers._text.counters import Role
from forensics.readers._text.placed import Placed
from forensics.readers._text.rows import Ordinals, Values
from forensics.signals import Signal, classify

_CARRIED = frozenset(
    {Signal.EVAL_LOSS, Signal.EVAL_ACCURACY, Signal.EVAL_ERROR, Signal.TRAIN_LOSS_EPOCH}
)


@dataclass(frozen=True, eq=False)
class Told:
    """What repaints tell of one quantity."""

    tag: str
    at: Ordinals
    """Shape (n,), increasing."""
    x: Ordinals
    value: Values


def new_points(bars: Sequence[Placed]) -> Iterator[Told]:
    """Yield what the repaints of all bars tell, each thing once, by tag."""
    if not bars:
        return
    table = _Paints.of(bars)
    chosen, x = _choose(table)
    parts: dict[str, list[tuple[Ordinals, Ordinals, Values]]] = defaultdict(list)
    for number, placed in enumerate(bars):
        mine = table.table[chosen] == number
        rows = table.row[chosen][mine]
        for k, column in enumerate(placed.rows.layout.columns):
            if column.role is Role.VALUE:
                values = placed.rows.values[rows, k]
                parts[column.tag].append((table.at[chosen][mine], x[mine], values))
    for tag, found in parts.items():
        at, steps, value = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        order = np.argsort(at, kind="stable")
        if classify(tag) in _CARRIED or tag.endswith("_epoch"):
            order = order[_changes(value[order])]
        yield Told(tag, at[order], steps[order], value[order])


@dataclass(frozen=True, eq=False)
class _Paints:
    """All repaints in the order of the file, shape (n,) each."""

    table: NDArray[np.int64]
    row: NDArray[np.int64]
    at: Ordinals
    x: Ordinals
    count: Values
    left: Values
    """Counts until the bar is full; NaN where that is unknown."""
    shown: NDArray[np.int64]
    """Equal where the same numbers are shown, NaN included."""

    @classmethod
    def of(cls, bars: Sequence[Placed]) -> "_Paints":
        at = np.concatenate([bar.rows.at for bar in bars])
        order = np.argsort(at, kind="stable")
        table = np.repeat(np.arange(len(bars)), [len(bar.rows) for bar in bars])
        row = np.concatenate([np.arange(len(bar.rows)) for bar in bars])
        x = np.concatenate([bar.x for bar in bars])
        count = np.concatenate([_counts(bar) for bar in bars])
        left = np.concatenate([_left(bar) for bar in bars])
        shown = np.stack([table, np.concatenate([_shown(bar) for bar in bars])])
        _, same = np.unique(shown, axis=1, return_inverse=True)
        return cls(
            table[order], row[order], at[order], x[order], count[order], left[order],
            same.ravel()[order],
        )  # fmt: skip


def _counts(bar: Placed) -> Values:
    count = bar.rows.layout.find(Role.COUNT)
    return bar.x.astype(np.float64) if count is None else bar.rows.values[:, count]


def _left(bar: Placed) -> Values:
    total = bar.rows.layout.find(Role.TOTAL)
    if total is None:
        return np.full(len(bar.rows), np.nan)
    return bar.rows.values[:, total] - _counts(bar)


def _shown(bar: Placed) -> NDArray[np.int64]:
    """Shape (n,): a number for each set of numbers shown, equal where they are."""
    columns = [k for k, c in enumerate(bar.rows.layout.columns) if c.role is Role.VALUE]
    numbers = np.ascontiguousarray(bar.rows.values[:, columns])
    keys = numbers.view(np.dtype((np.void, numbers.dtype.itemsize * len(columns)))).ravel()
    return np.unique(keys, return_inverse=True)[1].ravel().astype(np.int64)


def _choose(paints: _Paints) -> tuple[NDArray[np.intp], Ordinals]:
    """Choose among the repaints with the same x.

    One that shows something new is told at its x, the last of several as a rule; where the count
    lagged behind, each at an x of its own. Where nothing is new the last is told again, but not
    at count 0, where a bar still shows the end of the epoch before.

    Returns:
        Indices of the repaints to tell, and the x of each.
    """
    fresh = np.append(True, np.diff(paints.shown) != 0)
    starts = np.flatnonzero(np.append(True, np.diff(paints.x) != 0))
    ends = np.append(starts[1:], len(fresh))
    run = np.repeat(np.arange(len(starts)), ends - starts)
    news = np.add.reduceat(fresh.astype(np.int64), starts)
    x = paints.x[starts]
    following = np.append(x[1:], np.iinfo(np.int64).max)
    lags = (news > 1) & (paints.left[starts] != 0) & (x + news - 1 < following)
    rank = np.cumsum(fresh) - 1
    first = rank[starts] + ~fresh[starts]
    last_fresh = np.maximum.reduceat(np.where(fresh, np.arange(len(fresh)), -1), starts)
    tell = np.where(news > 0, last_fresh, np.where(paints.count[starts] > 0, ends - 1, -1))
    spread = np.flatnonzero(fresh & lags[run])
    single = tell[~lags & (tell >= 0)]
    chosen = np.concatenate([spread, single])
    offset = np.concatenate([(rank - first[run])[spread], np.zeros(len(single), np.int64)])
    return chosen, paints.x[chosen] + offset


def _changes(values: Values) -> NDArray[np.bool_]:
    """Shape (n,): False where a value repeats the one before, NaN included."""
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    return np.append(np.ones(min(len(values), 1), dtype=bool), ~same)
