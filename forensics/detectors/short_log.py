"""Short logs: what two values, or one of each epoch, say by themselves.

The other detectors ask for a band or a trend, and a report often quotes fewer lines than make one.
Two pictures need neither: a loss that ends an order of magnitude above all before it, and a
loss that whole epochs did not change by a thousandth.
"""

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import finite_loss, finite_of, is_adversarial, is_reinforcement
from forensics.detectors._floors_of_guessing import never_below_guess
from forensics.detectors._levels import name_of, with_classes_shown
from forensics.detectors._progress import others_improve
from forensics.detectors._warmup import warming_up
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Axis, Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

_DECIMALS = 8
_STILL = 0.01
"""Change as a share of the level that is none where every answer stays the same."""


def detect(
    timeline: Timeline,
    config: Config,
    *,
    band: int = 5,
    trend: int = 20,
    risen: float = 20.0,
    epochs: int = 3,
    coarse: float = 0.02,
    still: float = 0.001,
    guesses: int = 5,
) -> list[Episode]:
    """Find a loss far above all before it, or one that whole epochs did not change; at most one.

    Args:
        timeline: The run.
        config: Whether a trained model is tuned.
        band: Points from which the other detectors see a rise.
        trend: Points from which they see a plateau.
        risen: The last loss is so many times the highest before it. Ten happen in health, as
            when a part of the loss is switched on.
        epochs: Fewest epochs that show that nothing changes.
        coarse: Share of the level that a printed digit may be worth: 0.1 of 0.5 hides progress.
        still: Change as a share of the level that is none.
        guesses: Fewest epochs of guessing that show that nothing is learned.
    """
    step, value = finite_loss(timeline)
    if len(value) < 2 or is_reinforcement(timeline) or is_adversarial(timeline):
        return []
    before = value[:-1]
    if len(value) < band and before.min() > 0 and value[-1] >= risen * before.max():
        return [_divergence(step, value)]
    tuned = bool(config.pretrained or config.lora)  # little to gain, in health too
    if tuned or not epochs <= len(value) < trend or others_improve(timeline):
        return []
    if len(value) >= guesses and not warming_up(timeline, config, step):
        answer = _one_answer(timeline, value, guesses)
        if answer is not None:
            return [_plateau(step, value, float(np.median(value)), "initial", answer)]
    if timeline.axis is not Axis.EPOCH or int(step[0]) > 1:
        return []
    guess = None if len(value) < guesses else never_below_guess(timeline, config, value)
    if guess is not None and not warming_up(timeline, config, step):
        shown = name_of(with_classes_shown(timeline, config, guess.level), guess)
        return [_plateau(step, value, guess.level, *shown)]
    level = float(value[0])
    told = 0 < _last_digit(value) <= coarse * level
    began = ("initial", f"where it began, {len(value):,} epochs ago")
    return (
        [_plateau(step, value, float(np.median(value)), *began)]
        if told and np.ptp(value) <= still * level
        else []
    )


def _one_answer(timeline: Timeline, value: Values, least: int) -> str | None:
    """Words for an accuracy that never moved beside a loss that moved by no more than a digit.

    None: there is none that is wrong more often than right.
    """
    if np.ptp(value[1:]) > max(_last_digit(value), _STILL * abs(float(np.median(value)))):
        return None
    for signal in (Signal.TRAIN_ACCURACY, Signal.EVAL_ACCURACY):
        _, right = finite_of(timeline, signal)
        share = right / (100.0 if len(right) and right.max() > 1.0 else 1.0)
        if len(right) >= least and np.ptp(share[1:]) == 0 and 0 < share[-1] < 0.5:
            return f"where it began, with the same {share[-1]:.3g} of the answers right throughout"
    return None


def _last_digit(value: Values) -> float:
    """One unit in the last decimal that was printed."""
    places = range(_DECIMALS)
    return 10.0 ** -next(
        (d for d in places if np.array_equal(np.round(value, d), value)), _DECIMALS
    )


def _divergence(step: Steps, value: Values) -> Episode:
    best = int(np.argmin(value))
    level, final = float(np.median(value[:-1])), float(value[-1])
    return Episode(
        EpisodeKind.DIVERGENCE,
        Signal.TRAIN_LOSS,
        int(step[-1]),
        Severity.FAILURE,
        Ending.DIVERGED,
        after_step=int(step[-2]),
        peak_step=int(step[-1]),
        peak_value=final,
        baseline=level,
        details={
            "form": "after_spike",
            "ratio": final / float(value[best]),
            "best_step": int(step[best]),
            "best_value": float(value[best]),
            "initial": float(value[0]),
            "final": final,
        },
    )


def _plateau(step: Steps, value: Values, level: float, kind: str, name: str) -> Episode:
    return Episode(
        EpisodeKind.PLATEAU,
        Signal.TRAIN_LOSS,
        int(step[0]),
        Severity.FAILURE,
        Ending.PERSISTED,
        baseline=level,
        details={
            "level": level,
            "level_name": name,
            "level_kind": kind,
            "improvement": (float(value[0]) - level) / float(value[0]),
            "from_start": True,
        },
    )


DETECTOR = Detector("short_log", ((Signal.TRAIN_LOSS,),), detect)
