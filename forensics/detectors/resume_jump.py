"""Discontinuities at a resume: what the new attempt did not take over shows within 10 steps.

Where the schedule of the learning rate began again, the loss rises only as the rate does, so that
there its levels before and after are compared.
"""

from forensics.detectors._base import Detector
from forensics.detectors._facts import learning_rate_facts
from forensics.detectors._seams import Rise, rise_of_level, rise_within, seam_episode
from forensics.findings import Episode
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline

SAME_STEPS = 10
"""A resume and a restart of the schedule so near to each other are one."""


def detect(
    timeline: Timeline,
    config: Config,
    *,
    sigmas: float = 6.0,
    lasting_sigmas: float = 4.0,
    rise: float = 0.05,
    points: int = 16,
    look: int = 10,
) -> list[Episode]:
    """Compare the training loss before and after each resume and restart of the schedule.

    Args:
        timeline: The run.
        config: Not used.
        sigmas: Robust standard deviations that make a jump.
        lasting_sigmas: The same of the median of three points in a row.
        rise: Share of the level that it must be as well.
        points: Points before the resume that make its level.
        look: Points after it in which the jump must show (10 steps; an Adam without its state
            updates at 1.0, 0.7, 0.45 … of the rate instead of 0.23).
    """
    episodes = []
    for resume in timeline.resumes:
        if resume.step > timeline.first_step:
            limits = sigmas, lasting_sigmas, rise
            found = rise_within(
                timeline.tracks[Signal.TRAIN_LOSS], resume.step, points, look, limits
            )
            episodes += [seam_episode(timeline, resume.step, found, resume)] if found else []
    return sorted([*episodes, *_of_schedule(timeline, episodes)], key=lambda e: e.onset_step)


def _of_schedule(timeline: Timeline, told: list[Episode]) -> list[Episode]:
    facts = learning_rate_facts(timeline)
    found: list[Episode] = []
    for step in () if facts is None else facts.restarts:
        near = SAME_STEPS + 2 * timeline.interval
        if all(abs(e.onset_step - step) > near for e in told):
            rise: Rise | None = rise_of_level(timeline.tracks[Signal.TRAIN_LOSS], step)
            resume = next((r for r in timeline.resumes if abs(r.step - step) <= near), None)
            found += [seam_episode(timeline, step, rise, resume)] if rise else []
    return found


DETECTOR = Detector("resume_jump", ((Signal.TRAIN_LOSS,),), detect)
