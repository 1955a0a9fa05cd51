"""What several detectors must know about a run before they judge a number."""

import numpy as np

from forensics.detectors._robust import finite_part
from forensics.run import Steps, Values
from forensics.signals import Signal, adversary_of
from forensics.timeline import Timeline


def is_reinforcement(timeline: Timeline) -> bool:
    """True for reinforcement learning, whose loss is no measure of progress (GRPO's is near 0)."""
    return (
        Signal.REWARD in timeline.tracks or sum(t.signal is Signal.RL for t in timeline.others) >= 2
    )


def is_adversarial(timeline: Timeline) -> bool:
    """True where two networks play against each other: their losses swing by design."""
    sides = {adversary_of(t.tag) for t in (*timeline.others, *timeline.tracks.values())}
    return {"D", "G"} <= sides


def finite_loss(timeline: Timeline) -> tuple[Steps, Values]:
    """Steps and values of the finite part of the training loss, shapes (n,)."""
    track = timeline.tracks[Signal.TRAIN_LOSS]
    return finite_part(track.step, track.value)


def finite_of(timeline: Timeline, signal: Signal) -> tuple[Steps, Values]:
    """The same for any quantity; empty where it was not logged."""
    track = timeline.get(signal)
    if track is None:
        return np.empty(0, np.int64), np.empty(0)
    return finite_part(track.step, track.value)


def last_before(step: Steps, at: int) -> int | None:
    """Last step of ``step`` before ``at``, or None."""
    position = int(np.searchsorted(step, at)) - 1
    return int(step[position]) if position >= 0 else None
