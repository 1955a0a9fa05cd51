"""Loss-scale collapse and skipped steps (mixed precision with a dynamic scaler).

A run of halvings right after a start or a resume is the scaler finding its range, and a halving
every growth interval is it probing (apex, torch: about every 2,000 steps): neither is a failure.
A collapse is at least four halvings within 20 steps after that, or the scale at its floor.
"""

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import last_before
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline


def detect(
    timeline: Timeline,
    config: Config,
    *,
    halvings: float = 4.0,
    within_steps: int = 20,
    calibration_share: float = 0.05,
    calibration_steps: int = 100,
    floor: float = 1.0,
) -> list[Episode]:
    """Find collapses of the loss scale.

    Args:
        timeline: The run.
        config: Not used.
        halvings: Powers of two that the scale must fall by.
        within_steps: Steps (or two log intervals, where longer) in which it must fall.
        calibration_share: Falls in this share of the run after a start or resume are calibration.
        calibration_steps: The same in steps, whichever is less.
        floor: Scale at or below which the scaler can do no more (DeepSpeed's minimum: 1).
    """
    track = timeline.tracks[Signal.LOSS_SCALE]
    keep = track.finite & (track.value > 0)
    step, scale = track.step[keep], track.value[keep]
    if len(scale) < 3:
        return []
    span = timeline.last_step - timeline.first_step
    calm = min(calibration_steps, calibration_share * span)
    starts = [timeline.first_step, *(r.step for r in timeline.resumes)]
    reach = max(within_steps, 2.0 * track.interval)
    found = _falls(step, scale, reach, halvings)
    late = [f for f in found if not any(s <= step[f[0]] <= s + calm for s in starts)]
    episodes = [_episode(step, scale, begin, end, floor) for begin, end in late]
    return [e for e in episodes if e is not None]


def _falls(step: Steps, scale: Values, reach: float, halvings: float) -> list[tuple[int, int]]:
    """(first, last) position of each fall by enough halvings within ``reach`` steps."""
    down = np.flatnonzero(np.diff(scale) < 0) + 1
    falls: list[tuple[int, int]] = []
    at = 0
    while at < len(down):
        end = at
        while end + 1 < len(down) and step[down[end + 1]] - step[down[end]] <= reach:
            end += 1
        if np.log2(scale[down[at] - 1] / scale[down[end]]) >= halvings:
            falls.append((int(down[at]), int(down[end])))
        at = end + 1
    return falls


def _episode(step: Steps, scale: Values, begin: int, end: int, floor: float) -> Episode:
    start = float(scale[begin - 1])
    back = np.flatnonzero(scale[end:] >= min(start, 2.0**4 * scale[end]))
    recovered = len(back) > 0
    lowest = float(scale[begin : end + 1].min())
    onset = int(step[begin])
    return Episode(
        EpisodeKind.LOSS_SCALE_COLLAPSE,
        Signal.LOSS_SCALE,
        onset,
        Severity.INFO if recovered else Severity.WARNING,
        Ending.RECOVERED if recovered else Ending.PERSISTED,
        after_step=last_before(step, onset),
        peak_step=int(step[end]),
        peak_value=lowest,
        recovery_step=int(step[end + back[0]]) if recovered else None,
        baseline=start,
        details={
            "from_scale": start,
            "to_scale": lowest,
            "halvings": int(np.log2(start / lowest)),
            "at_minimum": lowest <= floor,
        },
    )


DETECTOR = Detector("loss_scale", ((Signal.LOSS_SCALE,),), detect)
