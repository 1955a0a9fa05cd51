"""The return of a policy over a run: where it began, its best level, where it ends.

In reinforcement learning the loss is no measure of progress: a value loss rises with the return it
has to predict, a policy loss is about zero throughout. The return is what was trained for.
"""

import re
from dataclasses import dataclass

import numpy as np

from forensics.detectors._context import is_reinforcement
from forensics.detectors._robust import finite_part, noise, rolling_median, window_for
from forensics.medians import median
from forensics.run import Steps, Values
from forensics.signals import Signal, normalise
from forensics.timeline import Timeline, Track

ENOUGH = 8
"""Points from which a course can be told."""
SIGMAS = 3.0
"""Standard deviations of the point-to-point noise within which two levels are alike."""
VANISHED = 0.02
"""Share of its largest size below which an entropy is none: the policy explores no more."""
_RETURN = re.compile(
    r"(?:(?!eval|val|test)\w+/)*(?:reward|ep_rew_mean|mean_reward|reward_mean|avg_reward|average_reward|"
    r"episode_reward(?:_mean)?|episodic_return|episode_return(?:_mean)?|return|returns|ep_return|"
    r"rewards?/mean|rewards/margins)"
)
_ENTROPY = re.compile(r"(?:.*/)?(?:policy_)?entropy(?:_loss)?")


@dataclass(frozen=True, eq=False)
class Course:
    """How the return went."""

    track: Track
    step: Steps
    """Shape (n,), finite points only."""
    value: Values
    start: float
    best: float
    """Of its rolling median."""
    best_at: int
    """Index of the best level."""
    final: float
    margin: float
    """Distance at which two levels differ for certain."""

    @property
    def rose(self) -> bool:
        """It ends above where it began, and kept most of what it had gained."""
        gained = self.best - self.start
        return self.final - self.start > self.margin and self.final - self.start >= 0.5 * gained

    @property
    def fell(self) -> bool:
        """It ends far below its best, having lost more than half of what it had gained."""
        lost = self.best - self.final
        return lost > self.margin and lost > 0.5 * max(self.best - self.start, 0.0)


def course_of(timeline: Timeline) -> Course | None:
    """The course of the return; None where none was logged, or too few points of it."""
    track = return_track(timeline)
    if track is None or not is_reinforcement(timeline):
        return None
    step, value = finite_part(track.step, track.value)
    n = len(value)
    if n < ENOUGH:
        return None
    level = rolling_median(value, window_for(n, 0.05, 3, 101))
    best_at = int(np.argmax(level))
    return Course(
        track,
        step,
        value,
        median(value[: max(3, n // 10)]),
        float(level[best_at]),
        best_at,
        median(value[-max(3, n // 5) :]),
        SIGMAS * noise(value),
    )


def return_track(timeline: Timeline) -> Track | None:
    """The fullest series of a return; of what preference tuning calls rewards, the margin."""
    own = timeline.get(Signal.REWARD)
    tracks = [*([own] if own is not None else []), *timeline.others]
    named = [t for t in tracks if t.signal is Signal.REWARD and _RETURN.fullmatch(normalise(t.tag))]
    return max(named, key=len, default=None)


def entropy_vanished(timeline: Timeline) -> bool | None:
    """Whether the policy's entropy is none in the last third; None where it was not logged."""
    tracks = [t for t in timeline.others if t.signal is Signal.RL]
    found = next((t for t in tracks if _ENTROPY.fullmatch(normalise(t.tag))), None)
    size = np.abs(found.value[found.finite]) if found is not None else np.empty(0)
    if len(size) < ENOUGH or size.max() == 0:
        return None
    return median(size[-len(size) // 3 :]) <= VANISHED * float(size.max())
