"""Plateau: the training loss never fell to speak of, or stopped far from done without a spike.

A flat loss is often just the end of a healthy run, so a plateau is a failure only where the run
never left chance, where it stopped within its first part and validation agrees, or where its level
is known to be a poor one (`_floors`).
"""

from dataclasses import replace

import numpy as np

from forensics.batch_facts import BatchSurvey
from forensics.detectors._base import Detector
from forensics.detectors._context import (
    finite_loss,
    finite_of,
    is_adversarial,
    is_reinforcement,
    last_before,
)
from forensics.detectors._facts import learning_rate_facts
from forensics.detectors._floors import poor_floor
from forensics.detectors._floors_of_batches import of_batches
from forensics.detectors._levels import (
    Flat,
    at_chance,
    flat_as_a_whole,
    flat_tail,
    left_guessing,
    name_of,
    with_classes_shown,
)
from forensics.detectors._progress import at_once, never_fell, others_improve
from forensics.detectors._robust import noise
from forensics.detectors._spikes import ORDINARY, SpikeRule
from forensics.detectors._warmup import warming_up
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import MEDIAN_ERROR
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline


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
    rule: SpikeRule = ORDINARY,
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
        rule: What a spike is: the thresholds of ``loss_spike``.
    """
    step, value = finite_loss(timeline)
    if len(value) < points or is_reinforcement(timeline) or is_adversarial(timeline):
        return []
    if warming_up(timeline, config, step) or _shown_as_zero(timeline, value):
        return []
    found = (
        (flat_as_a_whole(value) if never_fell(value, never) else None)
        or at_chance(config, value)
        or flat_tail(step, value, flat)
    )
    guess = left_guessing(timeline, config, step, value, found, early, rule)
    found = guess or found
    flat_out = _flat_out(timeline, config, step, found, guess, (never, early, far, least_rate))
    if flat_out is not None:
        stuck = flat_out.improvement + flat_out.doubt < never or guess is not None
        learned = not stuck or _fine_tuned(config, value, flat_out)
        if not learned or _confirmed(timeline, config, fine_tune_lr):
            return [_episode(timeline, config, step, flat_out, stuck=stuck, sure=True)]
    floor = poor_floor(timeline, config, step, value)
    if floor is not None and not _rate_is_low(timeline, int(step[floor.start]), least_rate):
        return [_episode(timeline, config, step, floor, stuck=floor.start == 0, sure=True)]
    if flat_out is None:
        return []
    return [_episode(timeline, config, step, flat_out, stuck=stuck, sure=False)]


def detect_in_batches(
    timeline: Timeline, config: Config, batches: BatchSurvey | None
) -> list[Episode]:
    """Find a plateau that captured batches explain and the log alone does not; at most one."""
    if batches is None or Signal.TRAIN_LOSS not in timeline.tracks or is_adversarial(timeline):
        return []
    step, value = finite_loss(timeline)
    floor = of_batches(timeline, batches, step, value)
    if floor is None:
        return []
    return [_episode(timeline, config, step, floor, stuck=floor.start == 0, sure=True)]


def _flat_out(
    timeline: Timeline,
    config: Config,
    step: Steps,
    found: Flat | None,
    guess: Flat | None,
    limits: tuple[float, float, float, float],
) -> Flat | None:
    """The flat stretch, if it never fell or stopped early and nothing else shows progress."""
    never, early, far, least_rate = limits
    if found is None or others_improve(timeline):
        return None
    stuck = found.improvement + found.doubt < never or guess is not None
    span = max(1, int(step[-1] - step[0]))
    soon = (int(step[found.start]) - int(step[0])) / span <= early
    stopped = soon and found.level >= far * found.initial > 0
    if not (stuck or stopped) or _rate_is_low(timeline, int(step[found.start]), least_rate):
        return None
    return replace(found, start=0) if stuck and guess is None else found


def _shown_as_zero(timeline: Timeline, value: Values) -> bool:
    """True where a loss near zero was printed as zero: there are gradients all the same."""
    _, norm = finite_of(timeline, Signal.GRAD_NORM)
    return not value.any() and bool(norm.any())


def _rate_is_low(timeline: Timeline, start: int, least: float) -> bool:
    """True where the rate fell below ``least`` of its peak before the plateau, yet is not zero.

    A learning rate of zero is no excuse: it is the fault, and so is one that soon comes to it.
    """
    step, rate = finite_of(timeline, Signal.LR)
    if len(rate) == 0 or rate.max() <= 0:
        return False
    facts, span = learning_rate_facts(timeline), timeline.last_step - timeline.first_step
    zero_from = None if facts is None else facts.zero_from
    if zero_from is not None and zero_from - timeline.first_step <= span / 3:
        return False
    at = min(int(np.searchsorted(step, start)), len(rate) - 1)
    return bool(0 < rate[at] < least * rate.max() and start > timeline.first_step)


def _fine_tuned(config: Config, value: Values, found: Flat) -> bool:
    """True where a trained model got a little better, beyond its noise: there was little to gain.

    At a level of pure chance it was not a trained model.
    """
    head = max(1, min(3, len(value) // 20))
    gained = found.initial - found.level > 4.0 * MEDIAN_ERROR * noise(value) / np.sqrt(head)
    named = name_of(config, found)[0] in ("ln_classes", "ln_vocab")
    return gained and not named and bool(config.pretrained or config.lora)


def _confirmed(timeline: Timeline, config: Config, fine_tune_lr: float) -> bool:
    """True where validation is flat too and nothing says that this is a fine-tune."""
    facts = learning_rate_facts(timeline)
    peak = facts.peak if facts else config.lr_peak
    if config.pretrained or config.lora or (peak is not None and peak <= fine_tune_lr):
        return False
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    return len(evals) >= 3 and at_once(-evals)


def _episode(
    timeline: Timeline, config: Config, step: Steps, found: Flat, *, stuck: bool, sure: bool
) -> Episode:
    kind, name = name_of(with_classes_shown(timeline, config, found.level), found)
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


DETECTOR = Detector("plateau", ((Signal.TRAIN_LOSS,),), detect, builds_on_spikes=True)
