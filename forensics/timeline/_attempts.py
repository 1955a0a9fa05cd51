"""Splits a series into attempts where its steps go back, and lets the later attempt win.

A *rewind* is a fall of the step that the following points confirm by counting on from there. A
single point out of order (an evaluation written late, an asynchronous writer) is no rewind. The
points that a rewind replaces are kept as superseded: they are often the failure itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forensics.run import Steps

MIN_RESTART_POINTS = 10
MIN_RESTART_SHARE = 0.1
"""A restart from the beginning replaces the attempt before only if it got this far: otherwise a
second start that was stopped at once would hide the run that failed."""
MAX_FALL_SHARE = 0.25
"""Where the step goes back at more than this share of all points, the rows are in no order."""

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Resolved:
    """Which points of a concatenated series are the run, and which were replaced."""

    kept: Index
    """Shape (n,), positions in step order; steps are strictly increasing."""
    superseded: tuple[Index, ...]
    """Positions that each replaced attempt lost, one array an attempt."""
    starts: tuple[tuple[int, int | None], ...]
    """(position of an attempt's first point, step rewound from or None); the first is left out."""


def untouched(n: int) -> Resolved:
    """A series of one attempt whose steps only rise."""
    return Resolved(np.arange(n), (), ())


def resolve(step: Steps, boundaries: tuple[int, ...] = ()) -> Resolved:
    """Order the points of one quantity.

    Args:
        step: Shape (n,), as written.
        boundaries: Positions at which another file starts: an attempt begins there even where
            the step goes on without a rewind.
    """
    if len(step) == 0:
        return untouched(0)
    if np.count_nonzero(np.diff(step) < 0) > max(2, MAX_FALL_SHARE * len(step)):
        return Resolved(_sorted_unique(step, np.arange(len(step))), (), ())
    cuts = _segment_starts(step, boundaries)
    segments = [np.arange(a, b) for a, b in zip(cuts, [*cuts[1:], len(step)], strict=True)]
    return _overlay(step, segments)


def _segment_starts(step: Steps, boundaries: tuple[int, ...]) -> list[int]:
    falls = np.flatnonzero(np.diff(step) < 0) + 1
    cuts = {0, *(b for b in boundaries if 0 < b < len(step))}
    cuts.update(int(i) for i in falls if _confirmed(step, int(i)))
    return sorted(cuts)


def _confirmed(step: Steps, at: int) -> bool:
    """True where the points after a fall count on from it instead of jumping straight back."""
    before = step[at - 1]
    following = step[at + 1 : at + 3]
    return len(following) == 0 or bool(np.all(following >= step[at]) and following[0] <= before)


def _overlay(step: Steps, segments: list[Index]) -> Resolved:
    kept = _sorted_unique(step, segments[0])
    superseded: list[Index] = []
    starts: list[tuple[int, int | None]] = []
    for segment in segments[1:]:
        points = _sorted_unique(step, segment)
        first, last = step[points[0]], step[kept[-1]]
        lost = kept[step[kept] >= first]
        if len(lost) == len(kept) and _too_short(step, points, kept):
            superseded.append(points)
            continue
        if len(lost):
            superseded.append(lost)
        starts.append((int(points[0]), int(last) if last >= first else None))
        kept = np.concatenate([kept[step[kept] < first], points])
    return Resolved(kept, tuple(superseded), tuple(starts))


def _too_short(step: Steps, points: Index, kept: Index) -> bool:
    reached = (step[points[-1]] - step[points[0]]) < MIN_RESTART_SHARE * (
        step[kept[-1]] - step[kept[0]]
    )
    return len(points) < MIN_RESTART_POINTS and len(kept) > len(points) and bool(reached)


def _sorted_unique(step: Steps, positions: Index) -> Index:
    """Positions in step order; of several points at one step the last written stays."""
    steps = step[positions]
    if len(steps) > 1 and np.any(np.diff(steps) <= 0):
        positions = positions[np.argsort(steps, kind="stable")]
        steps = step[positions]
        positions = positions[np.append(steps[1:] != steps[:-1], True)]
    return positions
