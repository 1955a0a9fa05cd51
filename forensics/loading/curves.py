"""Compares two logged curves: the same one twice, a fork, or two different ones."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from forensics.loading.rounding import COARSE, agreement
from forensics.run import Axis, Series, Steps, Values

AGREEING = 0.9
MIN_SHARED = 3


class Relation(StrEnum):
    """How two curves stand to each other."""

    COPY = "copy"  # the same values at the same steps
    FORK = "fork"  # the same up to a step, different from there: two attempts share a history
    DIFFERENT = "different"
    APART = "apart"  # no step in common, or counted by different things


@dataclass(frozen=True, eq=False)
class Curve:
    """A quantity by step, each step once: the last value written stands."""

    step: Steps
    """Shape (n,), strictly increasing."""
    value: Values
    """Shape (n,)."""
    axis: Axis

    @property
    def interval(self) -> float:
        """Median distance of the steps; 0.0 where there is one point."""
        return float(np.median(np.diff(self.step))) if len(self.step) > 1 else 0.0


def curve_of(pieces: list[Series]) -> Curve:
    """Join pieces of one quantity in the order in which they were written."""
    step = np.concatenate([p.step for p in pieces])
    value = np.concatenate([p.value for p in pieces])
    if len(step) > 1 and np.any(np.diff(step) <= 0):
        order = np.argsort(step, kind="stable")
        step, value = step[order], value[order]
        last = np.append(step[1:] != step[:-1], True)
        step, value = step[last], value[last]
    return Curve(step, value, pieces[0].axis)


def shared(one: Curve, other: Curve) -> tuple[Steps, Values, Values]:
    """Steps in common with both curves' values, each of shape (n,)."""
    if np.array_equal(one.step, other.step):
        return one.step, one.value, other.value
    steps, a, b = np.intersect1d(one.step, other.step, assume_unique=True, return_indices=True)
    return steps, one.value[a], other.value[b]


def relate(one: Curve, other: Curve) -> Relation:
    """Tell how two curves of the same kind of quantity stand to each other."""
    if one.axis != other.axis:
        return Relation.APART
    steps, a, b = shared(one, other)
    if len(steps) == 0:
        return Relation.APART
    agrees = agreement(a, b)
    enough = len(steps) >= min(MIN_SHARED, len(one.step), len(other.step))
    if enough and np.mean(agrees) >= AGREEING and _varies(a, whole=len(steps) == len(one.step)):
        return Relation.COPY
    prefix = int(np.argmin(agrees))
    if prefix >= MIN_SHARED and np.mean(agrees[prefix:]) < 1 - AGREEING and _varies(a[:prefix]):
        return Relation.FORK
    return Relation.DIFFERENT


def differ_plainly(one: Curve, other: Curve) -> bool:
    """True where three points settle it: a folder of a sweep has thousands of pairs to compare."""
    n = len(one.step)
    if n == 0 or n != len(other.step) or one.step[0] != other.step[0]:
        return False
    at = [0, n // 2, n - 1]
    near = np.isclose(one.value[at], other.value[at], rtol=COARSE, atol=0.0, equal_nan=True)
    return bool(one.step[-1] == other.step[-1] and not near.all())


def _varies(values: Values, *, whole: bool = False) -> bool:
    """True where agreeing means something: a constant agrees with any other of its value."""
    finite = values[np.isfinite(values)]
    return bool(len(finite) and finite.max() > finite.min()) or (whole and len(values) <= 2)


def agree(one: Curve, other: Curve) -> bool:
    """True where two curves known to be of one run say the same, constants included."""
    if one.axis != other.axis:
        return False
    steps, a, b = shared(one, other)
    enough = len(steps) >= min(MIN_SHARED, len(one.step), len(other.step)) > 0
    return enough and float(np.mean(agreement(a, b, one_run=True))) >= AGREEING


def fork_step(one: Curve, other: Curve) -> int:
    """The first common step at which two curves with a common history differ."""
    steps, a, b = shared(one, other)
    return int(steps[np.argmin(agreement(a, b))])


def starts_late(curve: Curve) -> bool:
    """True where the first step is beyond the first log interval: an earlier part is elsewhere."""
    if len(curve.step) == 0:
        return False
    first = int(curve.step[0])
    if curve.axis is Axis.EPOCH:
        return first > 1
    return first > max(2.0, 1.5 * curve.interval)


def continues(earlier: Curve, later: Curve, *, max_gap: float | None = None) -> bool:
    """True where ``later`` starts in the middle and ``earlier`` holds what came before.

    Args:
        earlier: The curve that may come first.
        later: The curve that may go on from it.
        max_gap: How far beyond the end of ``earlier`` it may start, as a share of its span;
            None: any distance.
    """
    if earlier.axis != later.axis or not len(earlier.step) or not starts_late(later):
        return False
    start, end = int(later.step[0]), int(earlier.step[-1])
    if int(earlier.step[0]) >= start:
        return False
    if max_gap is None or start <= end + 20 * max(earlier.interval, later.interval):
        return True
    return start <= end + max_gap * (end - int(earlier.step[0]))


def levels_match(earlier: Curve, later: Curve, factor: float = 3.0) -> bool:
    """True where ``later`` starts near the level of ``earlier`` there, or that is not finite."""
    before = earlier.value[earlier.step <= later.step[0]][-5:]
    before, after = before[np.isfinite(before)], later.value[:5][np.isfinite(later.value[:5])]
    if len(before) == 0 or len(after) == 0:
        return True
    a, b = float(np.median(before)), float(np.median(after))
    if a <= 0 or b <= 0:
        return abs(a - b) <= factor * max(abs(a), abs(b))
    return 1 / factor <= a / b <= factor
