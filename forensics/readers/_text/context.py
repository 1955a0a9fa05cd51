"""The x of rows that tell no step: from the lines around them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensics.readers._text.counters import Role
from forensics.readers._text.layout import Kind
from forensics.readers._text.placed import Placed, Track, are_whole, column_of, to_steps, track_of
from forensics.readers._text.rows import Rows
from forensics.run import Axis
from forensics.signals import Signal, classify

_REPEATED = 0.2  # share of rows that repeat an x above which the x says nothing
_DICTS = (Kind.DICT, Kind.FINAL)


def step_track(placed: Sequence[Placed]) -> Track:
    """The steps that the file tells; where it tells none, the x that its rows have."""
    steps = [p for p in placed if p.axis in (Axis.STEP, Axis.SAMPLES)]
    epochs = [p for p in placed if p.axis is Axis.EPOCH]
    telling = [p for p in steps if p.rows.layout.counts]
    return track_of([(p.rows, p.x) for p in telling or steps or epochs or placed])


def place_by_context(rest: Sequence[Rows], told: Sequence[Placed], epochs: Track) -> list[Placed]:
    """The last step told before each row; where that says nothing its epoch; else its place.

    Args:
        rest: Tables whose lines tell no step.
        told: Those whose lines do.
        epochs: The epochs that the file tells.
    """
    own = [p for p in told if p.rows.layout.kind is not Kind.BAR]
    own = own or [p for p in told if p.rows.layout.tags]
    sources = [p for p in own or told if p.axis in (Axis.STEP, Axis.SAMPLES)]
    steps = track_of([(p.rows, p.x) for p in sources])
    axis = next((p.axis for p in sources if p.axis is Axis.SAMPLES), Axis.STEP)
    dicts = [rows for rows in rest if rows.layout.kind in _DICTS]
    fractions = not all(are_whole(column_of(rows, Role.EPOCH)) for rows in dicts)
    placed: list[Placed | None] = []
    for rows in rest:
        one = None
        if own or rows.layout.kind not in _DICTS:
            one = _by_steps(rows, steps, axis)
        if one is None and not (fractions and rows.layout.kind in _DICTS):
            one = _by_epochs(rows, epochs)
        placed.append(one)
    left = [rows for rows, one in zip(rest, placed, strict=True) if one is None]
    return [*(one for one in placed if one is not None), *_by_place(left)]


def _by_steps(rows: Rows, steps: Track, axis: Axis) -> Placed | None:
    if not len(steps.at):
        return None
    before = steps.before(rows.at)
    x = to_steps(np.where(np.isnan(before), _start(steps), before))
    return None if _repeats(x) else Placed(rows, x, axis)


def _by_epochs(rows: Rows, epochs: Track) -> Placed | None:
    epoch = column_of(rows, Role.EPOCH)
    epoch = epochs.before(rows.at) if np.isnan(epoch).all() else epoch
    if not are_whole(epoch) or _repeats(epoch):
        return None
    return Placed(rows, to_steps(epoch), Axis.EPOCH)


def _start(steps: Track) -> int:
    """The step of what was measured before the first one: 0, unless the run begins later."""
    gaps = np.diff(np.unique(steps.x))
    gap = float(np.median(gaps)) if len(gaps) else 0.0
    return 0 if steps.x[0] <= 2 * max(gap, 1.0) else int(steps.x[0])


def _repeats(x: NDArray[Any]) -> bool:
    return len(x) > 1 and float((np.diff(x) == 0).mean()) > _REPEATED


def _by_place(tables: Sequence[Rows]) -> list[Placed]:
    """Count by the rows that hold the training loss; whatever else by those before it."""
    if not tables:
        return []
    losses = [rows for rows in tables if _logs_loss(rows)] or list(tables)[:1]
    ticks = np.sort(np.concatenate([rows.at for rows in losses]))
    placed = []
    for rows in tables:
        x = np.searchsorted(ticks, rows.at, side="right").astype(np.int64)
        x = np.arange(1, len(x) + 1, dtype=np.int64) if _repeats(x) else x
        placed.append(Placed(rows, x, Axis.ROW))
    return placed


def _logs_loss(rows: Rows) -> bool:
    return any(classify(tag) is Signal.TRAIN_LOSS for tag in rows.layout.tags)
