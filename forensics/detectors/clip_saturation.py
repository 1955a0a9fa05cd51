"""Clip saturation: too many steps hit the clipping threshold.

About 10 % of steps is what a threshold at the 90th percentile intends; above 20 % the learning
rate is suspect, above 50 % clipping is 'extremely aggressive' (Google's tuning playbook).
"""

from forensics.detectors._base import Detector
from forensics.detectors._context import last_before
from forensics.detectors._facts import clip_facts
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline


def detect(
    timeline: Timeline, config: Config, *, share: float = 0.5, points: int = 20
) -> list[Episode]:
    """Tell whether clipping was saturated over the run; at most one episode.

    Args:
        timeline: The run.
        config: ``clip_threshold`` must be known and above 0.
        share: Share of steps above the threshold from which clipping is saturated.
        points: Fewest logged norms for a share to mean anything.
    """
    facts = clip_facts(timeline, config, None)
    track = timeline.tracks[Signal.GRAD_NORM]
    if facts is None or len(track) < points or facts.share < share:
        return []
    above = track.step[track.value > facts.threshold]
    onset = int(above[0])
    return [
        Episode(
            EpisodeKind.CLIP_SATURATION,
            Signal.GRAD_NORM,
            onset,
            Severity.INFO,
            Ending.PERSISTED,
            after_step=last_before(track.step, onset),
            baseline=facts.threshold,
            details={"share": facts.share, "threshold": facts.threshold},
        )
    ]


DETECTOR = Detector("clip_saturation", ((Signal.GRAD_NORM,),), detect)
