"""Discontinuities at a resume: what the new attempt did not take over shows within 10 steps."""

from typing import Any

import numpy as np

from forensics.detectors._base import Detector
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import MAD_TO_SD, median
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Resume, Timeline, Track


def detect(
    timeline: Timeline,
    config: Config,
    *,
    sigmas: float = 6.0,
    rise: float = 0.05,
    points: int = 16,
    look: int = 10,
) -> list[Episode]:
    """Compare the training loss just before and just after each resume.

    Args:
        timeline: The run.
        config: Not used.
        sigmas: Robust standard deviations that make a jump.
        rise: Share of the level that it must be as well.
        points: Points before the resume that make its level.
        look: Points after it in which the jump must show (10 steps; an Adam without its state
            updates at 1.0, 0.7, 0.45 … of the rate instead of 0.23).
    """
    loss = timeline.tracks[Signal.TRAIN_LOSS]
    episodes = []
    for resume in timeline.resumes:
        if resume.step > timeline.first_step:
            found = _at(timeline, loss, resume, (sigmas, rise), points, look)
            episodes += [found] if found else []
    return episodes


def _at(
    timeline: Timeline,
    loss: Track,
    resume: Resume,
    limits: tuple[float, float],
    points: int,
    look: int,
) -> Episode | None:
    at = int(np.searchsorted(loss.step, resume.step))
    before = loss.value[max(0, at - points) : at]
    before = before[np.isfinite(before)]
    after = loss.value[at : at + look]
    after = after[np.isfinite(after)]
    if len(before) < 3 or len(after) < 1:
        return None
    base = median(before)
    spread = float(MAD_TO_SD * median(np.abs(before - base)))
    margin = max(limits[0] * spread, limits[1] * abs(base))
    extreme = float(after.max()) if after.max() - base >= base - after.min() else float(after.min())
    if abs(extreme - base) < margin:
        return None
    return _episode(timeline, loss, resume, at, base, extreme, margin)


def _episode(
    timeline: Timeline,
    loss: Track,
    resume: Resume,
    at: int,
    base: float,
    extreme: float,
    margin: float,
) -> Episode:
    up = extreme > base
    rest = loss.value[at:]
    peak = at + int(np.argmax(rest == extreme))
    back = np.flatnonzero(np.abs(loss.value[peak:] - base) < 0.5 * margin)
    below = np.flatnonzero(loss.value[peak:] < base) if up else back
    returned = min((int(x[0]) for x in (back, below) if len(x)), default=None)
    recovery = None if returned is None else int(loss.step[peak + returned])
    details: dict[str, Any] = {
        "before": base,
        "after": extreme,
        "final": float(np.nanmedian(rest[-max(3, len(rest) // 20) :])),
        "direction": "up" if up else "down",
        "rewound_from": resume.rewound_from,
        "recovery_steps": None if recovery is None else recovery - resume.step,
        **_around(timeline, resume.step),
    }
    return Episode(
        EpisodeKind.RESUME_JUMP,
        Signal.TRAIN_LOSS,
        resume.step,
        Severity.WARNING,
        Ending.PERSISTED if recovery is None else Ending.RECOVERED,
        after_step=int(loss.step[at - 1]),
        peak_step=int(loss.step[peak]),
        peak_value=extreme,
        recovery_step=recovery,
        baseline=base,
        details=details,
    )


def _around(timeline: Timeline, step: int) -> dict[str, float | None]:
    """Learning rate just before and after a step, and the ratio of the gradient norms."""
    rate = _sides(timeline.get(Signal.LR), step)
    norm = _sides(timeline.get(Signal.GRAD_NORM), step)
    ratio = norm[1] / norm[0] if norm[0] and norm[1] is not None and norm[0] > 0 else None
    return {"lr_before": rate[0], "lr_after": rate[1], "grad_ratio": ratio}


def _sides(track: Track | None, step: int) -> tuple[float | None, float | None]:
    if track is None:
        return None, None
    at = int(np.searchsorted(track.step, step))
    before, after = track.value[max(0, at - 5) : at], track.value[at : at + 5]
    if len(before) == 0 or len(after) == 0:
        return None, None
    if track.signal is Signal.LR:
        return float(before[-1]), float(after[0])
    return median(before), float(np.max(after))


DETECTOR = Detector("resume_jump", ((Signal.TRAIN_LOSS,),), detect)
