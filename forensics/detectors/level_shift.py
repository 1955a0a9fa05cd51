"""Level shift: the training loss steps to another level and stays, while it goes on training.

Up or down within a few points and held after. Where validation on fixed data does not move with
it, the data changed, not the weights (signatures §2, rows 18d and 22).
"""

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import (
    finite_loss,
    finite_of,
    is_adversarial,
    is_reinforcement,
    last_before,
)
from forensics.detectors._robust import block_medians, noise
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import MEDIAN_ERROR, median, row_medians
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline


def detect(
    timeline: Timeline,
    config: Config,
    *,
    window: int = 32,
    errors: float = 8.0,
    share: float = 0.03,
    settle: float = 0.1,
) -> list[Episode]:
    """Find steps of the level; at most five, the largest.

    Args:
        timeline: The run.
        config: Not used.
        window: Points on either side that make the levels.
        errors: Standard errors by which they must differ.
        share: Share of the level by which they must differ.
        settle: The first part of the run, in which the loss falls anyway, is left out.
    """
    step, value = finite_loss(timeline)
    if len(value) < 8 * window or is_reinforcement(timeline) or is_adversarial(timeline):
        return []
    thin_step, thin = block_medians(step, value, 2048)
    if len(thin) < 4 * window:
        return []
    jump, error = _jumps(thin, window)
    limit = np.maximum(errors * error, share * np.abs(thin[window:-window]))
    begin = max(0, int(settle * len(thin)) - window)
    found: list[Episode] = []
    free = np.abs(jump) > limit
    free[:begin] = False
    while free.any() and len(found) < 5:
        at = int(np.argmax(np.where(free, np.abs(jump), 0.0)))
        free[max(0, at - 2 * window) : at + 2 * window] = False
        episode = _episode(timeline, thin_step, thin, at + window, window)
        if episode is not None:
            found.append(episode)
    return sorted(found, key=lambda e: e.onset_step)


def _jumps(value: Values, window: int) -> tuple[Values, float]:
    """Median after minus median before each inner point, and its standard error."""
    view = np.lib.stride_tricks.sliding_window_view(value, window)
    medians = row_medians(view)
    jump = medians[window:] - medians[:-window]
    error = float(MEDIAN_ERROR * noise(value) * np.sqrt(2.0 / window))
    return jump[: len(value) - 2 * window], error


def _episode(
    timeline: Timeline, step: Steps, value: Values, at: int, window: int
) -> Episode | None:
    before = median(value[at - window : at])
    after = median(value[at : at + window])
    # An edge: half of the change lies within a few points. A slope has it spread out.
    near = value[max(0, at - 4) : at + 4]
    left, right = median(near[:3]), median(near[-3:])
    if abs(right - left) < 0.5 * abs(after - before):
        return None
    onset = int(step[at])
    return Episode(
        EpisodeKind.LEVEL_SHIFT,
        Signal.TRAIN_LOSS,
        onset,
        Severity.INFO,
        Ending.SETTLED,
        after_step=last_before(step, onset),
        peak_step=onset,
        peak_value=after,
        baseline=before,
        details={
            "before": before,
            "after": after,
            "direction": "up" if after > before else "down",
            "validation_moved": _validation_moved(timeline, onset, after - before),
        },
    )


def _validation_moved(timeline: Timeline, onset: int, change: float) -> bool | None:
    """Did the validation loss move with it? None where too little was evaluated."""
    step, value = finite_of(timeline, Signal.EVAL_LOSS)
    before, after = value[step < onset][-3:], value[step >= onset][:3]
    if len(before) < 1 or len(after) < 1:
        return None
    # The nearest ones as well: a validation that falls all along hides a rise from medians.
    moves = median(after) - median(before), median(after[:2]) - float(before[-1])
    return any(move * np.sign(change) >= 0.4 * abs(change) for move in moves)


DETECTOR = Detector("level_shift", ((Signal.TRAIN_LOSS,),), detect)
