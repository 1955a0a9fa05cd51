"""Learning-rate events: jumps upward after the warm-up, and a rate that ends at zero early."""

from typing import Any

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import last_before
from forensics.detectors._facts import learning_rate_facts
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline, Track


def detect(timeline: Timeline, config: Config, *, zero_share: float = 0.02) -> list[Episode]:
    """Tell what the logged rate did that a schedule does not do by itself.

    Args:
        timeline: The run.
        config: Not used.
        zero_share: Share of the run at rate zero from which it is told; a decay to zero in the
            last row is how schedules end.
    """
    facts = learning_rate_facts(timeline)
    track = timeline.tracks[Signal.LR]
    if facts is None:
        return []
    episodes = [_jump(timeline, track, step) for step in facts.jumps]
    if facts.zero_from is not None:
        span = max(1, timeline.last_step - timeline.first_step)
        share = (timeline.last_step - facts.zero_from) / span
        if share >= zero_share:
            episodes.append(_zero(track, facts.zero_from, share))
    return episodes


def _jump(timeline: Timeline, track: Track, step: int) -> Episode:
    at = int(np.searchsorted(track.step, step))
    before, after = float(track.value[at - 1]), float(track.value[at])
    near = [r for r in timeline.resumes if abs(r.step - step) <= 2 * track.interval + 10]
    details: dict[str, Any] = {
        "before": before,
        "after": after,
        "ratio": after / before if before > 0 else float("inf"),
        "at_resume": bool(near),
    }
    return Episode(
        EpisodeKind.LR_JUMP,
        Signal.LR,
        step,
        Severity.WARNING if near else Severity.INFO,
        Ending.SETTLED,
        after_step=last_before(track.step, step),
        peak_step=step,
        peak_value=after,
        baseline=before,
        details=details,
    )


def _zero(track: Track, step: int, share: float) -> Episode:
    return Episode(
        EpisodeKind.LR_ZERO,
        Signal.LR,
        step,
        Severity.WARNING,
        Ending.PERSISTED,
        after_step=last_before(track.step, step),
        details={"share": share},
    )


DETECTOR = Detector("learning_rate", ((Signal.LR,),), detect)
