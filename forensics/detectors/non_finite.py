"""Non-finite values: NaN or infinity in what was logged, and how long they stayed.

Isolated points with finite neighbours are a bad batch or a skipped step; a run that stays
non-finite to its last row is lost. A validation loss that was never finite while training was is
that of a set without a sample, or of a sum that is not the training's: told, but no failure.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forensics.detectors._base import Detector
from forensics.detectors._context import last_before
from forensics.detectors._movers import first_mover
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import median
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline, Track

CALM_POINTS = 5
LONG_POINTS, LONGER = 16, 4.0
"""So many finite points, and so many times as many as in any stretch that follows, part what was
skipped from as many non-finite points."""
WATCHED = (Signal.TRAIN_LOSS, Signal.GRAD_NORM, Signal.EVAL_LOSS)


def detect(
    timeline: Timeline,
    config: Config,
    *,
    persistent_share: float = 0.5,
    start_share: float = 0.01,
    calm_share: float = 0.1,
) -> list[Episode]:
    """Find non-finite points of loss, gradient norm and validation loss.

    Args:
        timeline: The run.
        config: Not used.
        persistent_share: The rest of a log that is non-finite to this share, its last row
            included, has not recovered.
        start_share: An onset within this share of the run, or within its first log interval,
            counts as 'at the start'.
        calm_share: So long a stretch of finite points, as a share of the log, parts what a scaler
            skipped now and then from what never came back.
    """
    shares = _Shares(persistent_share, start_share, calm_share)
    episodes: list[Episode] = []
    for signal in WATCHED:
        track = timeline.get(signal)
        if track is not None:
            episodes += _of_track(timeline, track, shares)
    episodes += _of_components(timeline, shares)
    return episodes


@dataclass(frozen=True)
class _Shares:
    """The thresholds of `detect`."""

    persistent: float
    start: float
    calm: float


def _of_track(timeline: Timeline, track: Track, shares: _Shares) -> list[Episode]:
    bad = ~track.finite
    if not bad.any():
        return []
    positions = np.flatnonzero(bad)
    stays = _stays_from(bad, shares)
    groups = [positions[positions < stays], positions[positions >= stays]]
    return [
        _episode(timeline, track, group, group[0] >= stays, shares.start)
        for group in groups
        if len(group)
    ]


def _stays_from(bad: NDArray[np.bool_], shares: _Shares) -> int:
    """First bad position from which the log stays non-finite; n where it comes back."""
    if not bad[-1]:
        return len(bad)
    reverse = np.cumsum(bad[::-1]) / np.arange(1, len(bad) + 1)
    positions = np.flatnonzero((reverse[::-1] >= shares.persistent) & bad)
    gap = np.diff(positions)
    longest_after = np.append(np.maximum.accumulate(gap[::-1])[::-1][1:], 1)
    calm = gap > max(CALM_POINTS, shares.calm * len(bad))
    many = np.arange(len(gap), 0, -1) > LONG_POINTS
    calm |= many & (gap > LONG_POINTS) & (gap > LONGER * longest_after)
    return int(positions[np.flatnonzero(calm)[-1] + 1] if calm.any() else positions[0])


def _episode(
    timeline: Timeline,
    track: Track,
    group: NDArray[np.intp],
    persistent: bool,
    start_share: float,
) -> Episode:
    first = int(group[0])
    onset = int(track.step[first])
    mover = first_mover(timeline, onset)
    values = track.value[group]
    before = track.value[:first][track.finite[:first]]
    span = timeline.last_step - timeline.first_step
    never = track.signal is Signal.EVAL_LOSS and len(group) == len(track)
    lost = persistent and track.signal is not Signal.GRAD_NORM and not never
    back = None if persistent or group[-1] + 1 >= len(track) else int(track.step[group[-1] + 1])
    return Episode(
        EpisodeKind.NON_FINITE,
        track.signal,
        onset,
        Severity.FAILURE if lost else Severity.WARNING,
        Ending.PERSISTED if persistent else Ending.RECOVERED,
        after_step=last_before(track.step, onset),
        peak_step=onset,
        peak_value=float(values[0]),
        recovery_step=back,
        baseline=median(before[-16:]) if len(before) else None,
        first_mover=mover[0] if mover and mover[0] is not track.signal else None,
        first_mover_step=mover[1] if mover and mover[0] is not track.signal else None,
        details={
            "kind": "inf" if np.isinf(values[0]) else "nan",
            "persistent": bool(persistent),
            "count": len(group),
            "share": len(group) / len(track),
            "at_start": onset - timeline.first_step <= max(track.interval, start_share * span),
            "last_finite": float(before[-1]) if len(before) else None,
        },
    )


def _of_components(timeline: Timeline, shares: _Shares) -> list[Episode]:
    """A component of the loss that stays non-finite where no total loss shows it."""
    if Signal.TRAIN_LOSS in timeline.tracks:
        return []
    parts = [t for t in timeline.others if t.signal is Signal.LOSS_COMPONENT]
    found = [e for t in parts for e in _of_track(timeline, t, shares)]
    return sorted(found, key=lambda e: e.onset_step)[:1]


DETECTOR = Detector(
    "non_finite",
    ((Signal.TRAIN_LOSS,), (Signal.GRAD_NORM,), (Signal.EVAL_LOSS,), (Signal.LOSS_COMPONENT,)),
    detect,
)
