"""Gradient spikes and explosions: the pre-clip norm leaves its band (signatures §3)."""

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import last_before
from forensics.detectors._gradients import GradientRule, gradient_events
from forensics.detectors._trigger import Excursion
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline


def detect(
    timeline: Timeline,
    config: Config,
    *,
    k: float = 6.0,
    ratio: float = 3.0,
    extreme: float = 10.0,
    explosion: float = 100.0,
    explosion_points: int = 3,
    window: int = 128,
    merge_steps: float = 10.0,
) -> list[Episode]:
    """Find spikes of the gradient norm.

    Args:
        timeline: The run.
        config: Not used.
        k: Height of the band in robust standard deviations of ln(norm).
        ratio: Least factor over the median.
        extreme: Factor from which a spike is extreme (Megatron's rerun rule: 10).
        explosion: Factor that makes a single point an explosion (SPAM: spikes up to 1000x).
        explosion_points: Points above ``extreme`` that make one.
        window: In-band points that make the baseline.
        merge_steps: Flags at most this far apart are one event (10, or two log intervals).
    """
    track = timeline.tracks[Signal.GRAD_NORM]
    found = gradient_events(track, GradientRule(k, ratio, window, merge_steps))
    return [
        _episode(found.step, found.norm, event, extreme, explosion, explosion_points)
        for event in found.events
    ]


def _episode(
    step: Steps, norm: Values, event: Excursion, extreme: float, explosion: float, points: int
) -> Episode:
    base = float(np.exp(event.baseline))
    end = len(norm) if event.recovery is None else event.recovery
    high = int(np.count_nonzero(norm[event.onset : end] >= extreme * base))
    factor = float(norm[event.peak] / base)
    exploded = factor >= explosion or high >= points
    onset = int(step[event.onset])
    return Episode(
        EpisodeKind.GRADIENT_EXPLOSION if exploded else EpisodeKind.GRADIENT_SPIKE,
        Signal.GRAD_NORM,
        onset,
        Severity.WARNING if exploded else Severity.INFO,
        Ending.PERSISTED if event.recovery is None else Ending.RECOVERED,
        after_step=last_before(step, onset),
        peak_step=int(step[event.peak]),
        peak_value=float(norm[event.peak]),
        recovery_step=None if event.recovery is None else int(step[event.recovery]),
        baseline=base,
        height=float((np.log(norm[event.peak]) - event.baseline) / event.sigma),
        details={"ratio": factor, "extreme": factor >= extreme, "points": event.points},
    )


DETECTOR = Detector("gradient_spike", ((Signal.GRAD_NORM,),), detect)
