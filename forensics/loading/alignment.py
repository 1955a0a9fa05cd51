"""Counts the epochs of one run alike in all of its logs.

Keras' ``CSVLogger`` counts epochs from 0, what it prints counts them from 1; a ``history.json`` or
a table printed at the end of each epoch may count them by its rows alone. Where the values of two
logs are the same one epoch apart, both are counted as the log does that counts from 1: so do
people, and the names of most checkpoints.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from forensics.loading.curves import AGREEING, Curve, curve_of
from forensics.loading.rounding import agreement
from forensics.loading.strands import Strand
from forensics.run import Axis, Series, Steps, Values
from forensics.signals import Signal, classify, normalise

LEAST_COMMON = 2
_SAME_QUANTITY = {
    Signal.TRAIN_LOSS: "loss",
    Signal.TRAIN_LOSS_EPOCH: "loss",
    Signal.EVAL_LOSS: "validation loss",
    Signal.EVAL_ACCURACY: "validation accuracy",
}
"""Quantities that two logs of one run may call differently."""


def aligned(strands: Sequence[Strand]) -> list[Strand]:
    """Strands whose epochs, or rows of one epoch each, are counted as the others' are."""
    return [_aligned(strand, strands) for strand in strands]


def _aligned(strand: Strand, strands: Sequence[Strand]) -> Strand:
    for other in strands:
        if other.source is strand.source or other.place.home != strand.place.home:
            continue
        for axis in (Axis.EPOCH, Axis.ROW, Axis.STEP):
            shift = _shift(strand, other, axis)
            if shift is not None:
                return _moved(strand, axis, shift)
    return strand


def _shift(strand: Strand, other: Strand, axis: Axis) -> int | None:
    """Epochs by which ``strand``'s count of ``axis`` lags behind ``other``'s; None: no evidence."""
    ours, theirs = _curves(strand, axis), _curves(other, Axis.EPOCH)
    if not ours or not theirs or not _counts_epochs(ours, theirs, axis):
        return None
    first = min(int(curve.step[0]) for curve in ours.values())
    start = min(int(curve.step[0]) for curve in theirs.values())
    if axis is Axis.EPOCH:
        possible: tuple[int, ...] = (0, 1) if first == 0 and start > 0 else ()
    else:
        possible = (0, 1) if first == 0 else (0,)
    common = {shift: _agreeing(ours, theirs, shift) for shift in possible}
    best = max(possible, key=lambda shift: common[shift], default=None)
    if best is None or not common[best] or (axis is Axis.EPOCH and best == 0):
        return None
    return best


def _curves(strand: Strand, axis: Axis) -> Mapping[str, Curve]:
    """Each quantity of a strand that is counted by ``axis``, by its name and by what it is."""
    pieces: dict[str, list[Series]] = {}
    for series in strand.series:
        if series.axis is axis and len(series.step) and classify(series.tag) is not Signal.EPOCH:
            pieces.setdefault(normalise(series.tag), []).append(series)
    found = {name: curve_of(some) for name, some in pieces.items()}
    for name, curve in list(found.items()):
        kind = _SAME_QUANTITY.get(classify(name))
        if kind is not None:
            found.setdefault(kind, curve)
    return found


def _counts_epochs(ours: Mapping[str, Curve], theirs: Mapping[str, Curve], axis: Axis) -> bool:
    """True where there is a point an epoch, as far as the lengths tell."""
    if axis is Axis.EPOCH:
        return True
    longest = max(len(curve.step) for curve in theirs.values())
    steps = [curve.step for curve in ours.values()]
    return all(len(s) <= longest + 1 and bool(np.all(np.diff(s) == 1)) for s in steps)


def _agreeing(ours: Mapping[str, Curve], theirs: Mapping[str, Curve], shift: int) -> int:
    """Points in common where most quantities that both logged are the same; else 0."""
    compared = [
        (len(steps), bool(np.mean(agreement(a, b)) >= AGREEING))
        for steps, a, b in _pairs(ours, theirs, shift)
        if len(steps) >= LEAST_COMMON
    ]
    same = [points for points, agrees in compared if agrees]
    return sum(same) if same and 2 * len(same) >= len(compared) else 0


def _pairs(
    ours: Mapping[str, Curve], theirs: Mapping[str, Curve], shift: int
) -> Iterator[tuple[Steps, Values, Values]]:
    """Common steps and both values, shape (n,) each, of each quantity that both logged."""
    for name in ours.keys() & theirs.keys():
        one, other = ours[name], theirs[name]
        steps, a, b = np.intersect1d(
            one.step + shift, other.step, assume_unique=True, return_indices=True
        )
        yield steps, one.value[a], other.value[b]


def _moved(strand: Strand, axis: Axis, shift: int) -> Strand:
    series = (
        replace(s, step=s.step + shift, axis=Axis.EPOCH) if s.axis is axis else s
        for s in strand.series
    )
    return replace(strand, series=tuple(series))
