"""Plateau: the training loss never fell to speak of, or stopped far from done without a spike.

A flat loss is often just the end of a healthy run, so a plateau is a failure only where the run
never left chance, or where it stopped within its first part and validation agrees.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import (
    finite_loss,
    finite_of,
    is_adversarial,
    is_reinforcement,
    last_before,
)
from forensics.detectors._facts import learning_rate_facts
from forensics.detectors._robust import block_medians, noise, quantum, rolling_median, slope
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline


@dataclass(frozen=True, eq=False)
class _Flat:
    start: int
    """Position from which the level no longer changes."""
    level: float
    initial: float
    improvement: float
    """Share of the initial level that was lost before the plateau."""


def detect(
    timeline: Timeline,
    config: Config,
    *,
    points: int = 20,
    never: float = 0.05,
    early: float = 0.2,
    far: float = 0.6,
    flat: float = 0.005,
    least_rate: float = 0.1,
    fine_tune_lr: float = 3e-4,
) -> list[Episode]:
    """Find a plateau that lasts to the end; at most one.

    Args:
        timeline: The run.
        config: Classes, vocabulary and planned steps, where known.
        points: Fewest points of a log that can show one.
        never: Improvement below this share of the initial level is 'never fell'.
        early: A run that stops improving within this share of its steps stopped early.
        far: It stopped far from done where the level is still above this share of the initial.
        flat: Change over the plateau, as a share of its level, that still counts as flat.
        least_rate: A plateau at less than this share of the peak learning rate is the schedule's.
        fine_tune_lr: Peak rates up to this one are fine-tunes, which flatten early in health.
    """
    step, value = finite_loss(timeline)
    if len(value) < points or is_reinforcement(timeline) or is_adversarial(timeline):
        return []
    found = _flat(step, value, flat) or _at_chance(config, value)
    if found is None or _warming_up(timeline, config, step) or _others_improve(timeline):
        return []
    stuck = found.improvement < never
    span = max(1, int(step[-1] - step[0]))
    soon = (int(step[found.start]) - int(step[0])) / span <= early
    stopped = soon and found.level >= far * found.initial > 0
    if not (stuck or stopped) or _rate_is_low(timeline, int(step[found.start]), least_rate):
        return []
    sure = stuck or _confirmed(timeline, config, fine_tune_lr)
    return [_episode(timeline, config, step, found, stuck=stuck, sure=sure)]


def _flat(step: Steps, value: Values, flat: float) -> _Flat | None:
    """The longest tail without a trend, if it covers at least half of the log."""
    thin_step, thin = block_medians(step, value, 512)
    width = max(3, min(31, len(thin) // 10))
    median = rolling_median(thin, width)
    level = float(np.median(thin[len(thin) // 2 :]))
    sigma = max(noise(thin), 0.5 * quantum(value))
    band = max(flat * abs(level), 2.5 * sigma / np.sqrt(width))
    away = np.flatnonzero(np.abs(median - level) > band)
    start = int(away[-1]) + 1 if len(away) else 0
    tail = thin[start:]
    if len(tail) < 0.5 * len(thin):
        return None
    change, error = slope(tail)
    if abs(change) > max(2.0 * error, flat * abs(level)) or abs(change) > 2.0 * flat * abs(level):
        return None
    initial = float(np.median(thin[: max(1, min(3, len(thin) // 20))]))
    position = int(np.searchsorted(step, thin_step[start]))
    improvement = (initial - level) / abs(initial) if initial else 0.0
    return _Flat(position, level, initial, improvement)


def _at_chance(config: Config, value: Values) -> _Flat | None:
    """A loss that begins and ends at ln(classes): a slow trend there is memorising."""
    width = max(3, len(value) // 10)
    initial, level = float(np.median(value[:width])), float(np.median(value[-width:]))
    for count in (config.num_classes, config.vocab_size):
        if count and count > 1:
            chance = log(count)
            if abs(initial - chance) <= 0.05 * chance and abs(level - chance) <= 0.05 * chance:
                return _Flat(0, level, initial, (initial - level) / chance)
    return None


def _warming_up(timeline: Timeline, config: Config, step: Steps) -> bool:
    """True where the log ends within the warm-up or in the first 2 % of the planned run."""
    facts = learning_rate_facts(timeline)
    if facts is not None and facts.peak > 0 and facts.peak_step >= 0.9 * timeline.last_step:
        return not facts.constant
    planned = config.total_steps
    if config.warmup_steps is not None and int(step[-1]) <= config.warmup_steps:
        return True
    return planned is not None and int(step[-1]) < 0.02 * planned


def _others_improve(timeline: Timeline) -> bool:
    """True where accuracy or validation shows progress that the training loss does not."""
    for signal, sign in (
        (Signal.TRAIN_ACCURACY, 1.0),
        (Signal.EVAL_ACCURACY, 1.0),
        (Signal.EVAL_LOSS, -1.0),
        (Signal.EVAL_ERROR, -1.0),
    ):
        _, value = finite_of(timeline, signal)
        if len(value) >= 3:
            best = float(np.max(sign * value[1:]))
            first = float(sign * value[0])
            if best - first > 0.1 * max(abs(first), 1e-3) and not _at_once(sign * value):
                return True
    return False


def _at_once(value: Values) -> bool:
    """True where all of the improvement came with the second point: then it stopped as well."""
    rest = float(np.max(value[1:])) - float(value[1])
    return rest <= 0.1 * max(float(value[1] - value[0]), 1e-12)


def _rate_is_low(timeline: Timeline, start: int, least: float) -> bool:
    """True where the rate fell below ``least`` of its peak before the plateau, yet is not zero.

    A learning rate of zero is no excuse: it is the fault.
    """
    step, rate = finite_of(timeline, Signal.LR)
    if len(rate) == 0 or rate.max() <= 0:
        return False
    at = min(int(np.searchsorted(step, start)), len(rate) - 1)
    return bool(0 < rate[at] < least * rate.max() and start > timeline.first_step)


def _confirmed(timeline: Timeline, config: Config, fine_tune_lr: float) -> bool:
    """True where validation is flat too and nothing says that this is a fine-tune."""
    facts = learning_rate_facts(timeline)
    peak = facts.peak if facts else config.lr_peak
    if config.pretrained or config.lora or (peak is not None and peak <= fine_tune_lr):
        return False
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    return len(evals) >= 3 and _at_once(-evals)


def _episode(
    timeline: Timeline, config: Config, step: Steps, found: _Flat, *, stuck: bool, sure: bool
) -> Episode:
    kind, name = _name(config, found)
    onset = int(step[found.start])
    return Episode(
        EpisodeKind.PLATEAU,
        Signal.TRAIN_LOSS,
        onset,
        Severity.FAILURE if sure else Severity.WARNING,
        Ending.PERSISTED,
        after_step=last_before(step, onset),
        baseline=found.level,
        details={
            "level": found.level,
            "level_name": name,
            "level_kind": kind,
            "improvement": found.improvement,
            "from_start": stuck,
        },
    )


def _name(config: Config, found: _Flat) -> tuple[str, str]:
    for kind, count, noun in (
        ("ln_classes", config.num_classes, "classes"),
        ("ln_vocab", config.vocab_size, "tokens"),
    ):
        if count and count > 1 and abs(found.level - log(count)) <= 0.05 * log(count):
            return kind, f"ln({count:,}) = {log(count):.3f}, chance among {count:,} {noun}"
    if config.num_classes and 0 < found.level < log(config.num_classes):
        return "label_entropy", (
            f"below ln({config.num_classes:,}) = {log(config.num_classes):.3f}: what predicting "
            "class frequencies alone would give"
        )
    if abs(found.level - found.initial) <= 0.05 * abs(found.initial):
        return "initial", "the level at which the run began"
    return "unnamed", "no level that has a name"


DETECTOR = Detector("plateau", ((Signal.TRAIN_LOSS,),), detect)
