"""Finds the run to which a strand of another format belongs."""

from collections.abc import Sequence

import numpy as np

from forensics.loading.curves import Curve, Relation, curve_of, relate, shared
from forensics.loading.strands import Strand
from forensics.run import Series
from forensics.signals import Signal, classify

NEAR = 0.2
"""Mean relative distance beyond which two curves are of different runs."""
CLEARLY = 0.5
"""The nearest must be this much nearer than the next, or it cannot be told."""

_LEAST_ALIKE = 5
_ALIKE = 0.9
"""Share of the points of the shorter log that must be in the longer one, and how many."""
_BY_CHANCE = (Signal.TRAIN_LOSS, Signal.EVAL_LOSS, Signal.GRAD_NORM, Signal.LOSS_COMPONENT)


def closest(strand: Strand, groups: Sequence[list[Strand]]) -> list[Strand] | None:
    """The group that a strand copies, shares its file name with, or runs clearly closest to."""
    for kinds in ((Relation.COPY,), (Relation.FORK,)):
        copied = [g for g in groups if any(_relation(strand, s) in kinds for s in g)]
        if copied:
            return copied[0]
    named = [g for g in groups if any(strand.stem == s.stem or _same_label(strand, s) for s in g)]
    if len(named) == 1:
        return named[0]
    return _nearest(strand, groups)


def are_rivals(one: Strand, other: Strand) -> bool:
    """True for two logs of one format that call their loss differently and are far apart.

    Files that hold one quantity each are none: ``loss`` and ``nll_loss`` may be of one run. Nor
    is a log of validations, whose training loss is another measure of the same run.
    """
    if "val" in (one.place.split, other.place.split) or _share_a_copy(one, other):
        return False
    if one.format != other.format or one.stem == other.stem or _same_label(one, other):
        return False
    whole_logs = len(one.series) > 1 and len(other.series) > 1
    distance = _distance(one.curve, other.curve) if whole_logs else np.inf
    return bool(NEAR < distance < np.inf)


def share_points(one: Strand, other: Strand) -> bool:
    """True where a quantity that chance has a part in has the same values at the same steps.

    The steps that both logged need not be the same: a progress bar may log more between them.
    """
    theirs = {s.tag: s for s in other.series if classify(s.tag) in _BY_CHANCE}
    pairs = ((s, theirs[s.tag]) for s in one.series if s.tag in theirs)
    return any(_are_alike(_points(a), _points(b)) for a, b in pairs)


def _points(series: Series) -> set[tuple[int, float]]:
    return set(zip(series.step.tolist(), series.value.tolist(), strict=True))


def _are_alike(one: set[tuple[int, float]], other: set[tuple[int, float]]) -> bool:
    both = one & other
    values = {value for _, value in both}
    return len(values) >= _LEAST_ALIKE and len(both) >= _ALIKE * min(len(one), len(other))


def _share_a_copy(one: Strand, other: Strand) -> bool:
    """True where any quantity that chance has a part in is the same; schedules are for all."""
    theirs = {s.tag: s for s in other.series if len(s.step) and classify(s.tag) in _BY_CHANCE}
    pairs = ((s, theirs[s.tag]) for s in one.series if s.tag in theirs and len(s.step))
    return any(relate(curve_of([a]), curve_of([b])) is Relation.COPY for a, b in pairs)


def _relation(one: Strand, other: Strand) -> Relation:
    if one.curve is None or other.curve is None:
        return Relation.APART
    return relate(one.curve, other.curve)


def _same_label(one: Strand, other: Strand) -> bool:
    return bool(one.label) and one.label == other.label


def _nearest(strand: Strand, groups: Sequence[list[Strand]]) -> list[Strand] | None:
    distances = [
        (min((_distance(strand.curve, s.curve) for s in group), default=np.inf), number)
        for number, group in enumerate(groups)
    ]
    distances.sort()
    first = distances[0][0]
    if first > NEAR or (len(distances) > 1 and first > CLEARLY * distances[1][0]):
        return None
    return groups[distances[0][1]]


def _distance(one: Curve | None, other: Curve | None) -> float:
    """Mean relative distance at the shared steps, infinite where there are none."""
    if one is None or other is None or one.axis != other.axis:
        return float("inf")
    steps, a, b = shared(one, other)
    both = np.isfinite(a) & np.isfinite(b)
    if len(steps) == 0 or not both.any():
        return float("inf")
    size = np.mean(np.abs(a[both]) + np.abs(b[both])) / 2
    return float(np.mean(np.abs(a[both] - b[both])) / size) if size > 0 else 0.0
