"""Who moved first: the quantity that left its band before the loss did.

Gradient norm leads the loss by 1 to 8 steps where the optimiser is the cause (signatures §1.2,
2304.13013), the loss scale by up to about 30 (GLM-130B). A learning rate that jumps up after its
warm-up leads by as long as the weights take to drift.
"""

import numpy as np

from forensics.detectors._facts import learning_rate_facts
from forensics.detectors._gradients import GradientRule, gradient_events
from forensics.signals import Signal
from forensics.timeline import Timeline, Track

GRADIENT_LOOK_BACK = 8.0
SCALE_LOOK_BACK = 30.0
MAX_LEAD_SHARE = 0.05
"""A gradient event under way since more than this share of the run before is its own story."""


def first_mover(timeline: Timeline, onset: int) -> tuple[Signal, int] | None:
    """The quantity that moved before ``onset``, and when; None where none did.

    A gradient excursion counts when it began within the look-back, or is still under way at the
    onset having begun within 5 % of the run before it.
    """
    candidates: list[tuple[int, Signal]] = []
    track = timeline.get(Signal.GRAD_NORM)
    if track is not None:
        candidates += [(s, Signal.GRAD_NORM) for s in _gradient_start(timeline, track, onset)]
    scale = timeline.get(Signal.LOSS_SCALE)
    if scale is not None:
        candidates += [(s, Signal.LOSS_SCALE) for s in _scale_start(timeline, scale, onset)]
    facts = learning_rate_facts(timeline)
    if facts is not None:
        longest = MAX_LEAD_SHARE * (timeline.last_step - timeline.first_step)
        candidates += [(s, Signal.LR) for s in facts.jumps if s >= onset - longest]
    earlier = [c for c in candidates if c[0] < onset]
    if not earlier:
        return None
    step, signal = min(earlier)
    return signal, step


def _gradient_start(timeline: Timeline, track: Track, onset: int) -> list[int]:
    reach = max(GRADIENT_LOOK_BACK, 2.0 * track.interval)
    span = timeline.last_step - timeline.first_step
    longest = max(reach, MAX_LEAD_SHARE * span)
    starts = [_non_finite_start(track, onset, reach)]
    for begin, end in _spans(track):
        still_on = begin >= onset - longest and end >= onset - reach
        if begin < onset and (begin >= onset - reach or still_on):
            starts.append(begin)
    return [s for s in starts if s is not None]


def _non_finite_start(track: Track, onset: int, reach: float) -> int | None:
    near = (track.step >= onset - reach) & (track.step < onset) & ~track.finite
    hits = track.step[near]
    return int(hits[0]) if len(hits) else None


def _spans(track: Track) -> list[tuple[int, int]]:
    """(first, last) step of each gradient excursion."""
    found = gradient_events(track, GradientRule())
    return [(int(found.step[e.onset]), int(found.step[e.last])) for e in found.events]


def _scale_start(timeline: Timeline, track: Track, onset: int) -> list[int]:
    reach = max(SCALE_LOOK_BACK, 2.0 * track.interval)
    near = (track.step >= onset - reach) & (track.step <= onset)
    values, steps = track.value[near], track.step[near]
    falls = np.flatnonzero(np.diff(values) < 0)
    return [int(steps[falls[0] + 1])] if len(falls) >= 2 else []
