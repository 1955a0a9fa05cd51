"""Discriminator won: it tells real from generated without fail, and the generator learns nothing.

The losses of two networks that play against each other swing by design and are not judged as one
loss is. Only a game that is over is told: for the larger part of the run and to its end nothing
generated passes for real, while the generator's loss lies far above where it began.
"""

import numpy as np
from numpy.typing import NDArray

from forensics.detectors._base import Detector
from forensics.detectors._context import last_before
from forensics.detectors._game import Game, game_of
from forensics.detectors._robust import rolling_median, window_for
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import median
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline


def detect(
    timeline: Timeline,
    config: Config,
    *,
    points: int = 20,
    sure: float = 0.95,
    idle: float = 0.05,
    share: float = 0.5,
    rise: float = 1.5,
) -> list[Episode]:
    """Find a game that is over; at most one episode.

    Args:
        timeline: The run.
        config: Not used.
        points: Fewest points of both losses.
        sure: What the discriminator says of real inputs at least, and one minus what it says of
            generated ones.
        idle: Its loss at most, where what it says was not logged.
        share: Share of the log to whose end that lasts.
        rise: Times its first level that the generator's loss reaches at last.
    """
    game = game_of(timeline)
    if game is None or len(game.step) < points:
        return []
    open_until = np.flatnonzero(~_decided(game, sure, idle))
    onset = int(open_until[-1]) + 1 if len(open_until) else 0
    n = len(game.step)
    first, last = game.generator[: max(3, n // 50)], game.generator[-max(3, n // 10) :]
    risen = median(last) >= rise * median(first) > 0
    if n - onset < share * n or not risen:
        return []
    return [_episode(game, onset, median(first), median(last))]


def _decided(game: Game, sure: float, idle: float) -> NDArray[np.bool_]:
    """Shape (n,), True where the discriminator knows; a single batch does not undo it."""
    width = window_for(len(game.step), 0.02, 3, 31)
    if game.real is not None and game.fake is not None:
        real, fake = rolling_median(game.real, width), rolling_median(game.fake, width)
        return (real >= sure) & (fake <= 1 - sure)
    if (game.discriminator < 0).any():  # a critic's: unbounded, and no measure of who is ahead
        return np.zeros(len(game.step), bool)
    return rolling_median(game.discriminator, width) <= idle


def _episode(game: Game, onset: int, first: float, last: float) -> Episode:
    at = int(game.step[onset])
    peak = onset + int(np.argmax(game.generator[onset:]))
    details: dict[str, float | None] = {
        "generator_first": first,
        "generator_last": last,
        "discriminator_last": median(game.discriminator[onset:]),
        "real": None if game.real is None else median(game.real[onset:]),
        "fake": None if game.fake is None else median(game.fake[onset:]),
    }
    return Episode(
        EpisodeKind.DISCRIMINATOR_WON,
        Signal.LOSS_COMPONENT,
        at,
        Severity.FAILURE,
        Ending.PERSISTED,
        after_step=last_before(game.step, at),
        peak_step=int(game.step[peak]),
        peak_value=float(game.generator[peak]),
        baseline=first,
        details=details,
    )


DETECTOR = Detector("discriminator_won", ((Signal.LOSS_COMPONENT,), (Signal.OTHER,)), detect)
