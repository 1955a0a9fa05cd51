"""Losses of exactly zero in batches in which nothing was counted.

A mean over no label is 0/0, which a guard or a filter of the logger turns into 0.0. The run goes on
as if nothing had been, since the gradient is zero as well.
"""

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import is_reinforcement, last_before
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import median
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline, Track

AROUND = 20
"""Points on either side of an exact zero that it is held against."""


def detect(
    timeline: Timeline,
    config: Config,
    *,
    rare: float = 0.02,
    near_zero: float = 0.2,
    least: int = 5,
) -> list[Episode]:
    """Find losses of exactly zero, single ones or all; at most one episode, for all of them.

    Args:
        timeline: The run.
        config: Not used.
        rare: Largest share of such losses.
        near_zero: Share of the usual loss below which no other one may lie around them.
        least: Fewest points of a run in which everything is zero.
    """
    if is_reinforcement(timeline):
        return []
    loss, norm = timeline.tracks[Signal.TRAIN_LOSS], timeline.get(Signal.GRAD_NORM)
    return _nothing(loss, norm, least) or _zeros(loss, norm, rare, near_zero)


def _nothing(loss: Track, norm: Track | None, least: int) -> list[Episode]:
    """One episode where each loss and each gradient norm is exactly zero: nothing was learned."""
    if norm is None or min(len(loss), len(norm)) < least or loss.value.any() or norm.value.any():
        return []
    return [
        Episode(
            EpisodeKind.PLATEAU,
            Signal.TRAIN_LOSS,
            int(loss.step[0]),
            Severity.FAILURE,
            Ending.PERSISTED,
            baseline=0.0,
            details={
                "level": 0.0,
                "level_name": "exactly zero, and so is every gradient norm",
                "level_kind": "zero",
                "improvement": 0.0,
                "from_start": True,
            },
        )
    ]


def _zeros(loss: Track, norm: Track | None, rare: float, near_zero: float) -> list[Episode]:
    """One episode for single losses of exactly 0.0 among others that never come near it.

    Nothing was counted in them: 0/0 that a guard made 0, or a filter. A gradient norm that is
    positive there contradicts it.
    """
    zero = loss.value == 0.0
    at = np.flatnonzero(zero[1:-1] & ~zero[:-2] & ~zero[2:]) + 1
    if norm is not None:
        live = norm.step[np.isfinite(norm.value) & (norm.value > 0)]
        at = at[~np.isin(loss.step[at], live)]
    others = loss.value[~zero & loss.finite]
    if len(at) == 0 or len(at) != np.count_nonzero(zero) or len(at) > rare * len(loss):
        return []
    around = np.concatenate([loss.value[max(0, i - AROUND) : i + AROUND + 1] for i in at])
    if len(others) < AROUND or np.min(around[around != 0.0]) < near_zero * median(others):
        return []
    onset = int(loss.step[at[0]])
    return [
        Episode(
            EpisodeKind.HIDDEN_NON_FINITE,
            Signal.TRAIN_LOSS,
            onset,
            Severity.WARNING,
            Ending.RECOVERED,
            after_step=last_before(loss.step, onset),
            peak_step=onset,
            peak_value=0.0,
            recovery_step=int(loss.step[at[0] + 1]),
            details={"how": "isolated_zero", "shown": 0.0, "rows": len(at), "at_start": False},
        )
    ]


DETECTOR = Detector("uncounted_loss", ((Signal.TRAIN_LOSS,),), detect)
