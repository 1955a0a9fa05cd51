"""The two sides of adversarial training, and what the discriminator thinks of either input."""

import re
from dataclasses import dataclass

import numpy as np

from forensics.run import Steps, Values
from forensics.signals import adversary_of, normalise
from forensics.timeline import Timeline, Track

_OF_REAL = re.compile(r"(?:.*/)?(?:d\(x\)|d_x|(?:d_)?real_(?:score|prob\w*))")
_OF_FAKE = re.compile(r"(?:.*/)?(?:d\(g\(z\)\)\d?|d_g_z_?\d?|(?:d_)?fake_(?:score|prob\w*))")


@dataclass(frozen=True, eq=False)
class Game:
    """Both losses at the steps at which both were logged; shapes (n,), finite points only."""

    step: Steps
    discriminator: Values
    generator: Values
    real: Values | None
    """What the discriminator says of real inputs, as a probability; None: not logged."""
    fake: Values | None
    """The same of generated ones."""


def game_of(timeline: Timeline) -> Game | None:
    """The game that a run logs; None where it logs none, or its sides at different steps."""
    tracks = [*timeline.others, *timeline.tracks.values()]
    sides = [_fullest(tracks, side) for side in ("D", "G")]
    if any(side is None for side in sides):
        return None
    d, g = (side for side in sides if side is not None)
    scores = [_probability(tracks, pattern) for pattern in (_OF_REAL, _OF_FAKE)]
    told = [d, g, *(score for score in scores if score is not None)]
    steps = d.step
    for track in told:
        steps = np.intersect1d(steps, track.step[track.finite], assume_unique=True)
    if not len(steps):
        return None
    at = [track.value[np.searchsorted(track.step, steps)] for track in told]
    both = at[2:] if all(score is not None for score in scores) else [None, None]
    return Game(steps, at[0], at[1], both[0], both[1])


def _fullest(tracks: list[Track], side: str) -> Track | None:
    """The loss of one side: the one with the most points, then with the plainest name."""
    own = [t for t in tracks if adversary_of(t.tag) == side]
    return max(own, key=lambda t: (len(t), -len(t.tag)), default=None)


def _probability(tracks: list[Track], pattern: re.Pattern[str]) -> Track | None:
    named = [t for t in tracks if pattern.fullmatch(normalise(t.tag)) and t.finite.any()]
    within = [t for t in named if 0 <= np.min(t.value[t.finite]) <= np.max(t.value[t.finite]) <= 1]
    return max(within, key=len, default=None)
