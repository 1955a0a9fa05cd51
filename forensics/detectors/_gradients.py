"""The band of the gradient norm, in its logarithm, and where it leaves it."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from forensics.detectors._band import Band, band
from forensics.detectors._early import judge_early
from forensics.detectors._robust import finite_part
from forensics.detectors._trigger import Excursion, excursions
from forensics.run import Steps, Values
from forensics.timeline import Track

SHORT_RUN = 300
EARLY_RATIO = 10.0
"""Factor over the lowest norms so far that counts before there is a baseline."""


def positive(track: Track) -> tuple[Steps, Values]:
    """The finite points above zero: 0 is 'not measured', -1 DeepSpeed's mask for NaN."""
    step, value = finite_part(track.step, track.value)
    mask = value > 0
    return step[mask], value[mask]


def log_band(norm: Values, *, k: float, ratio: float, window: int) -> Band:
    """Band of ln(norm): above median + k sigma and at least ``ratio`` times the median.

    Args:
        norm: Shape (n,), positive.
        k: Robust standard deviations of ln(norm).
        ratio: Least factor over the median.
        window: In-band points that make the baseline.
    """
    logs = np.log(norm)
    span = window if len(norm) >= SHORT_RUN else min(window, 32)
    least = float(np.log(ratio)) / k
    limits = band(logs, k=k, window=span, history=span // 2, floor=0.0, absolute=least)
    # Norms grow by themselves while a long run warms up: without a baseline ask for more.
    early = least if len(norm) <= span else float(np.log(EARLY_RATIO)) / k
    judge_early(logs, limits, until=span // 2, k=k, rise=0.0, absolute=early)
    return limits


@dataclass(frozen=True)
class GradientRule:
    """What counts as a gradient spike; documented at ``gradient_spike.detect``."""

    k: float = 6.0
    ratio: float = 3.0
    window: int = 128
    merge_steps: float = 10.0


@dataclass(frozen=True, eq=False)
class GradientEvents:
    """The positive part of a gradient norm and where it left its band."""

    step: Steps
    norm: Values
    events: tuple[Excursion, ...]
    """``baseline`` and ``sigma`` are of ln(norm)."""


@lru_cache(maxsize=8)
def gradient_events(track: Track, rule: GradientRule) -> GradientEvents:
    """Excursions of the gradient norm; cached, since every loss event asks for its precursor."""
    step, norm = positive(track)
    if len(norm) < 4:
        return GradientEvents(step, norm, ())
    limits = log_band(norm, k=rule.k, ratio=rule.ratio, window=rule.window)
    settle = max(1, min(16, len(norm) // 20))
    merge = max(rule.merge_steps, 2.0 * track.interval)
    return GradientEvents(
        step, norm, tuple(excursions(step, np.log(norm), limits, merge=merge, settle=settle))
    )
