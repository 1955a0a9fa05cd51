"""Return collapse: a policy that ends far below its best, and no longer tries anything else.

A return that falls may come back, as long as the policy explores. It is lost where the entropy of
the policy has vanished with it, or where for half of the run it was far below that of a policy
that had learned nothing yet.
"""

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import last_before
from forensics.detectors._returns import Course, course_of, entropy_vanished
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline


def detect(
    timeline: Timeline,
    config: Config,
    *,
    share: float = 0.2,
    below_start: float = 0.3,
    band: float = 0.25,
) -> list[Episode]:
    """Find the collapse of the return; at most one, since it lasts to the end.

    Args:
        timeline: The run.
        config: Not used.
        share: Share of the log that a return without entropy must have been down.
        below_start: Share of the first return by which a whole half of the log must lie below it
            where the entropy is not known.
        band: Share of the fall that still belongs to the best level.
    """
    course = course_of(timeline)
    if course is None or not course.fell:
        return []
    onset = _onset(course, band)
    down = (len(course.value) - onset) / len(course.value)
    stuck = bool(entropy_vanished(timeline)) and down >= share
    if not stuck and not _below_a_beginner(course, below_start):
        return []
    return [_episode(course, onset, stuck)]


def _onset(course: Course, band: float) -> int:
    """Index of the first point after the last within the band of the best level."""
    floor = course.best - max(course.margin, band * (course.best - course.final))
    return min(int(np.flatnonzero(course.value >= floor)[-1]) + 1, len(course.value) - 1)


def _below_a_beginner(course: Course, share: float) -> bool:
    half = course.value[len(course.value) // 2 :]
    limit = course.start - max(course.margin, share * abs(course.start))
    return course.start != 0 and bool(np.mean(half < limit) > 0.95)


def _episode(course: Course, onset: int, stuck: bool) -> Episode:
    at = int(course.step[onset])
    low = onset + int(np.argmin(course.value[onset:]))
    away = course.final <= course.start
    return Episode(
        EpisodeKind.RETURN_COLLAPSE,
        Signal.REWARD,
        at,
        Severity.FAILURE,
        Ending.DIVERGED if away else Ending.SETTLED,
        after_step=last_before(course.step, at),
        peak_step=int(course.step[low]),
        peak_value=float(course.value[low]),
        baseline=course.best,
        details={
            "start": course.start,
            "best": course.best,
            "best_step": int(course.step[course.best_at]),
            "final": course.final,
            "entropy_vanished": stuck,
        },
    )


DETECTOR = Detector("return_collapse", ((Signal.REWARD,),), detect)
