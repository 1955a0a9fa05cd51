"""Gives steps to logs that print a fraction of an epoch instead of a step.

The Trainer of transformers prints ``{'loss': 2.1, 'epoch': 0.13}``: rows without a step. Its
``trainer_state.json`` has both, and so tells how many steps an epoch has; the printed log often
goes further, up to the crash. Without such a file the rows are numbered by their epoch, so that a
restart goes back where it did.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from forensics.loading.curves import shared
from forensics.loading.places import is_above
from forensics.loading.rounding import agreement
from forensics.loading.strands import Strand
from forensics.run import Axis, Series, Steps, Values
from forensics.signals import Signal, classify

CONFIRMED = 0.7
"""Share of common points that must agree before the steps are believed."""


@dataclass(frozen=True)
class _Scale:
    """How the steps of a run follow from its epochs."""

    steps_per_epoch: float
    interval: float
    """Steps between rows."""


def counted(strands: Sequence[Strand]) -> list[Strand]:
    """Renumber the strands that were logged by row with a fraction of an epoch; others stay."""
    return [_renumbered(strand, strands) for strand in strands]


def _renumbered(strand: Strand, strands: Sequence[Strand]) -> Strand:
    epochs = _fractions(strand)
    if epochs is None:
        return strand
    for other in strands:
        home, elsewhere = strand.place.home, other.place.home
        scale = _scale_of(other) if is_above(home, elsewhere) else None
        if scale is not None:
            moved = _moved(strand, epochs, _positions(epochs.value, scale), Axis.STEP)
            if _is_confirmed(moved, other, needed=home != elsewhere):
                return moved
    own = _own_scale(epochs.value)
    return (
        strand if own is None else _moved(strand, epochs, _positions(epochs.value, own), Axis.ROW)
    )


def _fractions(strand: Strand) -> Series | None:
    """The epoch of each row, where it is a fraction."""
    for series in strand.series:
        by_row = series.axis is Axis.ROW and classify(series.tag) is Signal.EPOCH
        if by_row and len(series.step) > 2 and np.all(np.isfinite(series.value)):
            whole = np.all(series.value == np.floor(series.value))
            return None if whole or np.any(np.diff(series.step) <= 0) else series
    return None


def _scale_of(strand: Strand) -> _Scale | None:
    """Steps per epoch and log interval of a strand that logged both by step."""
    if strand.curve is None or strand.curve.axis is not Axis.STEP or not strand.curve.interval:
        return None
    for series in strand.series:
        if series.axis is Axis.STEP and classify(series.tag) is Signal.EPOCH:
            furthest = int(np.argmax(series.step))
            epoch, step = float(series.value[furthest]), int(series.step[furthest])
            whole = np.all(series.value == np.floor(series.value))
            if epoch > 0 and step > 0 and not whole:
                return _Scale(step / epoch, strand.curve.interval)
    return None


def _own_scale(epochs: Values) -> _Scale | None:
    """One step a row, from the mean distance of the rows between restarts."""
    gains, rows = 0.0, 0
    for segment in _segments(epochs):
        gains += float(epochs[segment][-1] - epochs[segment][0])
        rows += len(segment) - 1
    return _Scale(rows / gains, 1.0) if gains > 0 and rows > 1 else None


def _positions(epochs: Values, scale: _Scale) -> Steps:
    """The step of each row, shape (n,): evenly spaced between restarts, placed by the epochs."""
    steps = np.empty(len(epochs), np.int64)
    for segment in _segments(epochs):
        expected = epochs[segment] * scale.steps_per_epoch
        spaced = scale.interval * np.arange(len(segment))
        start = float(np.median(expected - spaced))
        steps[segment] = np.rint(round(start / scale.interval) * scale.interval + spaced)
    return steps


def _segments(epochs: Values) -> list[NDArray[np.intp]]:
    """Positions between the places where the epoch goes back."""
    return list(np.split(np.arange(len(epochs)), np.flatnonzero(np.diff(epochs) < 0) + 1))


def _moved(strand: Strand, epochs: Series, steps: Steps, axis: Axis) -> Strand:
    def move(series: Series) -> Series:
        if series.axis is not Axis.ROW:
            return series
        at = np.clip(np.searchsorted(epochs.step, series.step, side="right") - 1, 0, None)
        return replace(series, step=steps[at], axis=axis)

    return replace(strand, series=tuple(move(series) for series in strand.series))


def _is_confirmed(moved: Strand, other: Strand, *, needed: bool) -> bool:
    """True where the losses agree at the common steps; unless ``needed``, also without any."""
    if moved.curve is None or other.curve is None:
        return not needed
    _, a, b = shared(moved.curve, other.curve)
    if len(a) == 0:
        return not needed
    return float(np.mean(agreement(a, b))) >= CONFIRMED
