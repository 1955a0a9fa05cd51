"""Loss spikes: the training loss leaves its band upward (signatures §3)."""

from typing import Any

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import finite_loss, is_adversarial, is_reinforcement, last_before
from forensics.detectors._early import judge_early
from forensics.detectors._movers import first_mover
from forensics.detectors._trigger import Excursion, band, excursions
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

SHORT_RUN = 300
"""Runs of fewer points use window 32 and k 8 (signatures §3)."""


def detect(
    timeline: Timeline,
    config: Config,
    *,
    k: float = 7.0,
    window: int = 128,
    short_k: float = 8.0,
    short_window: int = 32,
    floor: float = 0.005,
    early_rise: float = 0.4,
    merge_steps: float = 10.0,
    fast_steps: int = 50,
    slow_steps: int = 2_000,
    slow_points: int = 20,
    slow_share: float = 0.25,
    mild: float = 0.05,
) -> list[Episode]:
    """Find spikes of the training loss.

    Args:
        timeline: The run.
        config: Not used.
        k: Height of the band in robust standard deviations (OLMo 2: 7).
        window: In-band points that make the baseline (OLMo-core: 128).
        short_k: The same below 300 points.
        short_window: The same below 300 points.
        floor: Least standard deviation as a share of the level.
        early_rise: Rise over the level so far that counts before there is a baseline.
        merge_steps: Flags at most this far apart are one event (10, or two log intervals).
        fast_steps: A recovery within this many steps is fast (BLOOM: about 30).
        slow_steps: Beyond this, and beyond ``slow_points`` log intervals and ``slow_share`` of the
            steps so far, the spike did not recover, even if the loss came down later.
        slow_points: See ``slow_steps``.
        slow_share: See ``slow_steps``.
        mild: Rises below this share of the level are noise in a quiet log, not spikes.
    """
    step, value = finite_loss(timeline)
    if len(value) < 4:
        return []
    short = len(value) < SHORT_RUN
    span, height = (short_window, short_k) if short else (window, k)
    limits = band(value, k=height, window=span, history=span // 2, floor=floor)
    judge_early(value, limits, until=span // 2, k=height, rise=early_rise)
    gap = max(merge_steps, 2.0 * timeline.interval)
    found = excursions(step, value, limits, merge=gap, settle=max(1, min(16, len(value) // 20)))
    limit = max(slow_steps, slow_points * timeline.interval)
    calm = is_reinforcement(timeline) or is_adversarial(timeline)
    return [
        _episode(timeline, step, value, event, (fast_steps, limit, slow_share), calm=calm)
        for event in found
        if value[event.peak] - event.baseline >= mild * max(abs(event.baseline), 1e-3)
    ]


def _episode(
    timeline: Timeline,
    step: Steps,
    value: Values,
    event: Excursion,
    limits: tuple[int, float, float],
    *,
    calm: bool,
) -> Episode:
    onset = int(step[event.onset])
    speed, ending = _speed(step, value, event, limits)
    mover = first_mover(timeline, onset)
    base = event.baseline
    details: dict[str, Any] = {
        "ratio": float(value[event.peak] / base) if base > 0 else float("inf"),
        "points": event.points,
        "speed": speed,
        "recovery_steps": None if event.recovery is None else int(step[event.recovery]) - onset,
    }
    failed = ending in (Ending.DIVERGED, Ending.SETTLED) and not calm
    return Episode(
        EpisodeKind.LOSS_SPIKE,
        Signal.TRAIN_LOSS,
        onset,
        Severity.FAILURE if failed else Severity.INFO if calm else Severity.WARNING,
        ending,
        after_step=last_before(step, onset),
        peak_step=int(step[event.peak]),
        peak_value=float(value[event.peak]),
        recovery_step=None if event.recovery is None else int(step[event.recovery]),
        baseline=base,
        height=float((value[event.peak] - base) / event.sigma),
        first_mover=mover[0] if mover else None,
        first_mover_step=mover[1] if mover else None,
        details=details,
    )


def _speed(
    step: Steps, value: Values, event: Excursion, limits: tuple[int, float, float]
) -> tuple[str, Ending]:
    fast, slow, share = limits
    first = float(step[0])
    if event.recovery is not None:
        took = int(step[event.recovery]) - int(step[event.onset])
        so_far = float(step[event.recovery]) - first
        if took > slow and took > share * so_far:
            return "none", Ending.SETTLED
        return ("fast" if took <= fast else "slow"), Ending.RECOVERED
    tail = value[event.onset :]
    if len(tail) < 3:
        return "none", Ending.CENSORED
    end = float(np.median(tail[-max(1, min(16, len(tail) // 3)) :]))
    margin = max(0.02 * abs(event.baseline), 3.0 * event.sigma)
    if end <= event.baseline + margin:
        return "partial", Ending.RECOVERED
    rising = end >= 0.7 * float(np.max(tail)) or end >= float(value[0])
    return ("none", Ending.DIVERGED) if rising else ("partial", Ending.SETTLED)


DETECTOR = Detector("loss_spike", ((Signal.TRAIN_LOSS,),), detect)
