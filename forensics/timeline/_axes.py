"""Brings series that count epochs, samples or rows onto the axis of the training loss."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from forensics.run import Axis, Series
from forensics.signals import Signal

_PREFERRED = (Axis.STEP, Axis.EPOCH, Axis.SAMPLES, Axis.ROW)


def on_common_axis(series: Sequence[Series]) -> tuple[list[Series], Axis]:
    """Convert what can be converted; what cannot keeps its own count, stretched to the run.

    A series by epoch beside one by step is placed with the logged epoch (a series of quantity
    ``epoch`` over steps) and, without one, by assuming that both end together.
    """
    if not series:
        return [], Axis.STEP
    axis = _main_axis(series)
    if all(s.axis == axis for s in series):
        return list(series), axis
    last = max(int(s.step.max()) for s in series if s.axis == axis and len(s.step))
    tables = {
        Axis.EPOCH: _table(series, axis, Signal.EPOCH),
        Axis.SAMPLES: _table(series, axis, Signal.SAMPLES),
    }
    ends = {
        a: max((int(s.step.max()) for s in series if s.axis == a and len(s.step)), default=0)
        for a in _PREFERRED
    }
    return [_moved(s, axis, tables.get(s.axis), last, ends[s.axis]) for s in series], axis


def _main_axis(series: Sequence[Series]) -> Axis:
    losses = [s for s in series if s.signal in (Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH)]
    points: Counter[Axis] = Counter()
    for one in losses or series:
        points[one.axis] += len(one.step)
    return max(points, key=lambda a: (points[a], -_PREFERRED.index(a)))


def _table(
    series: Sequence[Series], axis: Axis, signal: Signal
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """(value, step) of the longest non-decreasing series of ``signal`` on the main axis."""
    fit = [s for s in series if s.axis == axis and len(s.step) > 1 and s.signal is signal]
    fit = [s for s in fit if np.all(np.isfinite(s.value)) and np.all(np.diff(s.value) >= 0)]
    if not fit:
        return None
    longest = max(fit, key=lambda s: len(s.step))
    return longest.value, longest.step


def _moved(
    one: Series,
    axis: Axis,
    table: tuple[NDArray[np.float64], NDArray[np.int64]] | None,
    last: int,
    end: int,
) -> Series:
    if one.axis == axis or len(one.step) == 0:
        return one
    if table is not None:
        value, step = table
        counted = one.step - 1 if one.axis is Axis.EPOCH and _from_one(one, value) else one.step
        # An epoch's row is written when the epoch ends: the last step that still carries it.
        position = np.searchsorted(value, counted, side="right") - 1
        steps = step[np.clip(position, 0, len(step) - 1)]
    else:
        steps = np.rint(one.step * (last / max(end, 1))).astype(np.int64)
    return replace(one, step=steps.astype(np.int64), axis=axis)


def _from_one(one: Series, epochs: NDArray[np.float64]) -> bool:
    """True where a series by epoch counts from 1 and the epochs logged by step from 0.

    Args:
        one: The series by epoch.
        epochs: Shape (n,), the epoch of each step.
    """
    if epochs[0] != 0 or np.any(epochs != np.floor(epochs)) or one.step.min() < 1:
        return False
    every = len(one.step) > 1 and bool(np.all(np.diff(np.unique(one.step)) == 1))
    return bool(one.step.max() > epochs[-1]) or (every and one.step.min() == 1)
