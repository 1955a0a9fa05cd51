"""The spikes of a training loss, found once and shared by the detectors that build on them."""

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from forensics.detectors._band import RUN_SHARE, Band, band
from forensics.detectors._context import finite_loss, is_adversarial, is_reinforcement, last_before
from forensics.detectors._early import RECENT, judge_early, judge_fall
from forensics.detectors._movers import first_mover
from forensics.detectors._robust import noise, stretches
from forensics.detectors._trigger import Excursion, excursions
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import median
from forensics.run import Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

LASTING_POINTS = 5
"""Excursions of this many points are no matter of a single value's tail."""
NOTHING = 0.003
"""Share of the first loss below which no spike of a loss that falls by powers of ten is told."""
ENOUGH_FOR_TAIL = 24
SHORT_RUN = 300
"""Runs of fewer points use the short window and height (signatures §3)."""


@dataclass(frozen=True)
class SpikeRule:
    """What counts as a spike and as a recovery; documented at ``loss_spike.detect``."""

    k: float = 7.0
    window: int = 128
    short_k: float = 8.0
    short_window: int = 32
    floor: float = 0.005
    early_rise: float = 0.4
    merge_steps: float = 10.0
    fast_steps: int = 50
    slow_steps: int = 2_000
    slow_points: int = 20
    slow_share: float = 0.25
    mild: float = 0.05


ORDINARY = SpikeRule()
"""What a spike is where the user has not changed it."""


@lru_cache(maxsize=8)
def find_spikes(timeline: Timeline, rule: SpikeRule) -> tuple[Episode, ...]:
    """Spikes of the training loss in step order."""
    step, value = finite_loss(timeline)
    if len(value) < 4:
        return ()
    short = len(value) < SHORT_RUN
    span, height = (rule.short_window, rule.short_k) if short else (rule.window, rule.k)
    history = span // 2 if len(value) >= 2 * span else len(value)
    limits = band(value, k=height, window=span, history=history, floor=rule.floor)
    # A few dozen points give no baseline: the steep start would still be in every window.
    early = len(value) if len(value) < 2 * span else span // 2
    judge_early(value, limits, until=early, k=height, rise=rule.early_rise)
    nothing = NOTHING * float(median(value[:RECENT]))
    fallen = judge_fall(value, limits, k=height, least=nothing)
    # From a millionth of the first loss to a thousandth of it, nothing has been lost yet.
    limits.flagged[(value < nothing) & (limits.median < NOTHING * nothing)] = False
    gap = max(rule.merge_steps, 2.0 * timeline.interval)
    found = excursions(step, value, limits, merge=gap, settle=max(1, min(16, len(value) // 20)))
    limit = max(rule.slow_steps, rule.slow_points * timeline.interval)
    calm = is_reinforcement(timeline) or is_adversarial(timeline)
    tail = _tail_height(value, limits, early, height)
    return tuple(
        _episode(timeline, step, value, event, (rule.fast_steps, limit, rule.slow_share), calm=calm)
        for event in found
        if value[event.peak] - event.baseline >= rule.mild * max(abs(event.baseline), 1e-3)
        and (
            event.points >= LASTING_POINTS
            or _stays_high(value, event, height)
            or value[event.peak] - event.baseline >= tail
            or fallen[event.onset]
        )
        and not _low_start(value, event)
    )


def _stays_high(value: Values, event: Excursion, k: float) -> bool:
    """True where the points from the onset on keep to the upper part of the band: a level."""
    first = value[event.onset : event.onset + LASTING_POINTS]
    high = event.baseline + RUN_SHARE * k * event.sigma
    return len(first) == LASTING_POINTS and bool(np.all(first > high))


def _low_start(value: Values, event: Excursion, *, errors: float = 5.0) -> bool:
    """True where the level before is that of a few first points, and noise made those low.

    In factors, not differences: what follows a real blow-up is noisy in proportion.
    """
    if event.onset >= RECENT or value.min() <= 0:
        return False
    ratio = float(np.log(value[event.peak] / event.baseline))
    return ratio < errors * noise(np.log(stretches(value)))


def _tail_height(value: Values, limits: Band, early: int, k: float) -> float:
    """Rise over the baseline that this run's own noise does not explain.

    A window of 32 points knows little of a skewed or heavy tail; the whole run knows more: its
    typical sigma, stretched where its 99th percentile (95th in short runs) lies further out than
    a normal one.
    """
    n = len(value)
    judged = np.isfinite(limits.median) & ~limits.flagged
    if n < ENOUGH_FOR_TAIL or not judged.any():
        return 0.0
    settled = judged & (np.arange(n) >= early)
    local = median(stretches(limits.sigma[settled])) if settled.any() else 0.0
    sigma = max(noise(value), local)
    share = min(0.05, max(0.01, 5.0 / n))
    far = float(np.quantile(stretches((value - limits.median)[judged]), 1.0 - share))
    stretch = far / (NormalDist().inv_cdf(1.0 - share) * sigma) if sigma > 0 else 1.0
    return k * sigma * max(1.0, stretch)


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
        deep = bool(value[event.peak] > np.max(value[:3]))
        if took > slow and took > share * so_far and deep:
            return "none", Ending.SETTLED
        return ("fast" if took <= fast else "slow"), Ending.RECOVERED
    tail = value[event.onset : event.until]
    if len(tail) < 3:
        return "none", Ending.CENSORED
    # A blow-up in the very last points counts as much as a level that was held.
    end = max(median(tail[-w:]) for w in (3, max(1, min(16, len(tail) // 3))))
    margin = max(0.02 * abs(event.baseline), 3.0 * event.sigma)
    if end <= event.baseline + margin:
        return "partial", Ending.RECOVERED
    last = event.until == len(value)
    kept = (end - event.baseline) / (float(np.max(tail)) - event.baseline)
    rising = last and (kept >= 0.7 or end >= float(value[0]))
    return ("none", Ending.DIVERGED) if rising else ("partial", Ending.SETTLED)
