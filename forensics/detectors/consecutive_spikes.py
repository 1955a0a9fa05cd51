"""Consecutive spikes: the loss leaves its band again and again (signatures §3).

At least five flagged points in a row (KillLossSpike's patience of four), or at least three events
within 1,000 steps; *escalating* where the gaps shrink or the height grows.
"""

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._spikes import ORDINARY, SpikeRule, find_spikes
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import median
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline


def detect(
    timeline: Timeline,
    config: Config,
    *,
    count: int = 3,
    within_steps: int = 1_000,
    within_points: int = 100,
    least_ratio: float = 1.2,
    rule: SpikeRule = ORDINARY,
) -> list[Episode]:
    """Find runs of spikes.

    Args:
        timeline: The run.
        config: Not used.
        count: Spikes that make a run of them.
        within_steps: Span they must fall into; ``within_points`` log intervals where longer.
        within_points: See ``within_steps``.
        least_ratio: Smaller spikes are not counted: a noisy log has many.
        rule: What a spike is: the thresholds of ``loss_spike``.
    """
    spikes = [e for e in find_spikes(timeline, rule) if e.details["ratio"] >= least_ratio]
    if len(spikes) < count:
        return []
    span = max(within_steps, within_points * timeline.interval)
    groups: list[list[Episode]] = [[spikes[0]]]
    for spike in spikes[1:]:
        near = spike.onset_step - groups[-1][-1].onset_step <= span / count
        groups[-1].append(spike) if near else groups.append([spike])
    return [_episode(group) for group in groups if len(group) >= count]


def _episode(group: list[Episode]) -> Episode:
    onsets = [e.onset_step for e in group]
    peaks = np.array([e.peak_value for e in group], dtype=float)
    top = group[int(np.argmax(peaks))]
    last = group[-1]
    return Episode(
        EpisodeKind.CONSECUTIVE_SPIKES,
        Signal.TRAIN_LOSS,
        onsets[0],
        max((e.severity for e in group), key=list(Severity).index),
        last.ending,
        after_step=group[0].after_step,
        peak_step=top.peak_step,
        peak_value=top.peak_value,
        recovery_step=last.recovery_step if last.ending is Ending.RECOVERED else None,
        baseline=group[0].baseline,
        height=top.height,
        first_mover=group[0].first_mover,
        first_mover_step=group[0].first_mover_step,
        details={"count": len(group), "escalating": _escalating(onsets, peaks), "steps": onsets},
    )


def _escalating(onsets: list[int], peaks: np.ndarray) -> bool:
    gaps = np.diff(onsets)
    third = max(1, len(peaks) // 3)
    grows = median(peaks[-third:]) > 1.5 * median(peaks[:third])
    shrinks = len(gaps) >= 4 and median(gaps[-2:]) < 0.5 * median(gaps[:2])
    return bool(grows or shrinks)


DETECTOR = Detector("consecutive_spikes", ((Signal.TRAIN_LOSS,),), detect, builds_on_spikes=True)
