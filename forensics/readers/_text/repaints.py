"""Which repaints of a progress bar tell something new.

tqdm draws ``loss=…`` again and again, and counts either before or after the loss of an iteration
is known; it may also draw several losses before its count moves on. What a repaint carries
along unchanged (the last validation loss, the mean of the last epoch) is told once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from forensics.readers._text.axis import Placed
from forensics.readers._text.counters import Role
from forensics.signals import Signal, classify

_CARRIED = frozenset(
    {
        Signal.EVAL_LOSS,
        Signal.EVAL_ACCURACY,
        Signal.EVAL_ERROR,
        Signal.TRAIN_LOSS_EPOCH,
    }
)


@dataclass(frozen=True)
class Told:
    """One number of one repaint."""

    tag: str
    at: int
    x: int
    value: float


@dataclass(frozen=True)
class _Paint:
    at: int
    x: int
    count: int
    left: float
    """Counts until the bar is full; NaN where that is unknown."""
    shown: tuple[tuple[str, float], ...]
    print: bytes
    """Equal where the same is shown, NaN included."""


def new_points(bars: Sequence[Placed]) -> Iterator[Told]:
    """Yield what the repaints of all bars tell, each thing once."""
    carried: dict[str, float] = {}
    for paint in _told(_paints(bars)):
        for tag, value in paint.shown:
            if classify(tag) in _CARRIED or tag.endswith("_epoch"):
                if tag in carried and (
                    carried[tag] == value or carried[tag] != carried[tag] != value != value
                ):
                    continue
                carried[tag] = value
            yield Told(tag, paint.at, paint.x, value)


def _paints(bars: Sequence[Placed]) -> list[_Paint]:
    paints = []
    for placed in bars:
        layout = placed.rows.layout
        shown = [k for k, column in enumerate(layout.columns) if column.role is Role.VALUE]
        tags = [layout.columns[k].tag for k in shown]
        count = layout.find(Role.COUNT)
        total = layout.find(Role.TOTAL)
        values = placed.rows.values
        counts = values[:, count] if count is not None else placed.x.astype(np.float64)
        left = values[:, total] - counts if total is not None else np.full(len(counts), np.nan)
        numbers = np.ascontiguousarray(values[:, shown])
        for k, (at, x) in enumerate(zip(placed.rows.at.tolist(), placed.x.tolist(), strict=True)):
            row = tuple(zip(tags, numbers[k].tolist(), strict=True))
            paints.append(_Paint(at, x, int(counts[k]), float(left[k]), row, numbers[k].tobytes()))
    return sorted(paints, key=lambda paint: paint.at)


def _told(paints: list[_Paint]) -> Iterator[_Paint]:
    """Choose among the repaints with the same count."""
    start = 0
    before = b""
    while start < len(paints):
        end = start
        while end < len(paints) and paints[end].x == paints[start].x:
            end += 1
        run = paints[start:end]
        following = paints[end].x if end < len(paints) else None
        yield from _told_by_run(run, before, following)
        before = run[-1].print
        start = end


def _told_by_run(run: list[_Paint], before: bytes, following: int | None) -> Iterator[_Paint]:
    x = run[0].x
    fresh = [
        p
        for p, last in zip(run, [before, *(q.print for q in run)], strict=False)
        if p.print != last
    ]
    if not fresh:
        if run[0].count > 0:  # at 0 it still shows the end of the epoch before
            yield run[-1]
    elif (
        len(fresh) > 1
        and run[0].left != 0
        and (following is None or x + len(fresh) - 1 < following)
    ):
        for offset, paint in enumerate(fresh):
            yield replace(paint, x=x + offset)
    else:
        yield fresh[-1]
