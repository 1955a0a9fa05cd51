"""Poor floors: a loss that came down a little, quickly, and then rested far from done.

A model that learns nothing but frequencies stops at their entropy: classes just below ln(classes),
tokens at half of ln(vocabulary) or more (`_floors_of_tokens`). A flat loss
alone is how healthy runs end, so each rule here needs a height that is known: by the configuration,
by the accuracy, or by a validation that was as flat from its first value on.
"""

from collections.abc import Callable
from dataclasses import replace
from math import log

import numpy as np

from forensics.detectors._context import finite_of
from forensics.detectors._facts import learning_rate_facts
from forensics.detectors._floor_shape import first_level, part, resting, same_unit, stopped, unit_of
from forensics.detectors._floors_of_guessing import never_below_guess
from forensics.detectors._floors_of_labels import classes_by_lot, one_answer, tokens_by_lot
from forensics.detectors._floors_of_settings import ended_at_frequencies, of_settings
from forensics.detectors._floors_of_tokens import (
    began_far_off,
    never_loaded,
    of_tokens,
    of_untold_tokens,
)
from forensics.detectors._levels import Flat
from forensics.detectors._robust import block_medians, noise, rolling_median
from forensics.medians import MEDIAN_ERROR, median
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

OF_CLASSES, SLOWED = 0.85, 0.5
"""Share of ln(classes) from which a level is one of frequencies, and share of all progress that may
fall to the last two thirds: a model goes on memorising labels."""
STILL, ALIKE = 0.01, 0.15
"""Relative change of what did not move, and difference of what are the same level."""
KNOWN, DEARER = 0.25, 1.08
"""Share of what there is to learn that was learned, and times what its answers need cost."""
MANY = 6
"""Evaluations of which the first may differ."""
FAR_ABOVE, STILL_HIGH, LATE = 10.0, 1 / 3, 0.15
"""Began at so many times chance, ends above this share of it, was above it for this share."""
THROWN, LONG = 2.0, 0.25
"""Times the first level that a loss rose to, and share of the run that it spent above it."""


def poor_floor(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    """The floor that a run rests on though it is far from done, or None.

    Args:
        timeline: The run.
        config: Classes and vocabulary, where known.
        step: Shape (n,), of the finite losses.
        value: Shape (n,), the losses.

    Returns:
        The floor; its ``start`` is a position in ``step``.
    """
    if len(value) < 20:
        return None
    thin_step, thin = block_medians(step, value)
    if config.pretrained or config.lora:
        found = never_loaded(config, thin) or never_below_guess(timeline, config, thin)
    else:
        found = _first_of(timeline, config, thin_step, thin)
    if found is None:
        return None
    return replace(found, start=int(np.searchsorted(step, thin_step[found.start])))


def _first_of(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    rules: tuple[Callable[[], Flat | None], ...] = (
        lambda: of_tokens(timeline, config, step, value),
        lambda: of_untold_tokens(timeline, config, value),
        lambda: never_below_guess(timeline, config, value),
        lambda: _of_classes(timeline, config, step, value),
        lambda: _never_came_near(timeline, config, step, value),
        lambda: _unmoved(timeline, value),
        lambda: _without_a_rate(timeline, step, value),
        lambda: _thrown_back(value),
        lambda: began_far_off(timeline, config, step, value),
        lambda: of_settings(timeline, config, step, value),
        lambda: ended_at_frequencies(timeline, config, value),
        lambda: one_answer(timeline, config, value),
        lambda: tokens_by_lot(timeline, config, value),
        lambda: classes_by_lot(timeline, value),
    )
    return next((found for rule in rules if (found := rule()) is not None), None)


def _of_classes(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    count = config.num_classes or classes_by_accuracy(timeline, value)
    if not count or not 3 <= count <= 100:
        return None
    chance, level = log(count), part(value, 0.8, 1.0)
    if not OF_CLASSES * chance <= level <= chance or not stopped(value, chance, SLOWED):
        return None
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    _, right = finite_of(timeline, Signal.TRAIN_ACCURACY)
    learned = len(right) >= 5 and median(right[-len(right) // 5 :] / unit_of(right)) > 0.65
    if learned or (len(evals) and evals[-1] < 0.6 * chance) or _knows(timeline, count, level):
        return None
    # It lost less than a sixth of what there was to lose: it never fell to speak of.
    return resting(value, max(chance, first_level(value)), level, from_start=True)


def _knows(timeline: Timeline, count: int, level: float) -> bool:
    """True where answers are right more often than the loss lets expect: dropout costs only that.

    Labels of which a share is noise cost the entropy of that share, and no more; both parts of
    the data must have been learned as well.
    """
    rights = [finite_of(timeline, s)[1] for s in (Signal.TRAIN_ACCURACY, Signal.EVAL_ACCURACY)]
    if any(len(right) < MANY for right in rights):
        return False
    shares = [median(right[-len(right) // 5 :] / unit_of(right)) for right in rights]
    share = min(shares)
    if not 1 / count + KNOWN * (1 - 1 / count) <= share < 1:
        return False
    noise_alone = -share * log(share) - (1 - share) * log((1 - share) / (count - 1))
    return level > DEARER * noise_alone


def _never_came_near(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    """A loss that began many times above chance and spent its run on the way down to it."""
    count = config.num_classes or config.vocab_size
    if not count or count < 2 or value.min() <= 0:
        return None
    chance, first, level = log(count), first_level(value), part(value, 0.8, 1.0)
    late = bool(np.mean(value > chance) > LATE)
    far = first >= FAR_ABOVE * chance and level >= STILL_HIGH * chance
    if not (far and late and same_unit(timeline, step, value)):
        return None
    return resting(value, first, level, from_start=True)


def _unmoved(timeline: Timeline, value: Values) -> Flat | None:
    """A training loss too noisy to tell, and a validation that did not move from its first value.

    It must be the level at which training began: what a trained model is given to learn may be
    little, but then its validation loss moves.
    """
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(evals) < 4 or evals.min() <= 0:
        return None
    head = max(3, len(value) // 20)
    initial, level = median(value[:head]), part(value, 0.5, 1.0)
    # Running statistics of an untrained model settle within the first of many evaluations.
    settled = evals[1:] if len(evals) >= MANY else evals
    still = float(np.ptp(settled)) <= STILL * float(evals.min())
    still = still and float(evals[0] - evals.min()) <= STILL * float(evals.min())
    near = initial - level <= ALIKE * level and abs(evals[0] - level) <= ALIKE * level
    fell = median(value[: len(value) // 3]) - part(value, 2 / 3, 1.0)
    error = 2.0 * MEDIAN_ERROR * noise(value) * np.sqrt(6.0 / len(value))
    if not (still and near and fell <= STILL * abs(level) + error):
        return None
    return Flat(0, level, initial, (initial - level) / abs(initial))


def _without_a_rate(timeline: Timeline, step: Steps, value: Values) -> Flat | None:
    """A learning rate of zero from the first part of the run on, and weights that show it.

    A rate printed with too few digits is zero as well; validation that stands still tells, and
    that the loss had not come far by then.
    """
    facts = learning_rate_facts(timeline)
    eval_step, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if facts is None or facts.zero_from is None or facts.peak <= 0:
        return None
    start = int(np.searchsorted(step, facts.zero_from))
    after = evals[eval_step > facts.zero_from]
    if start > len(value) // 3 or len(after) < 3 or np.ptp(after) > STILL * abs(after[0]):
        return None
    level, first = part(value, 0.5, 1.0), first_level(value)
    if level < STILL_HIGH * first:
        return None
    return Flat(start, level, first, (first - level) / max(abs(first), 1e-12))


def _thrown_back(value: Values) -> Flat | None:
    """A loss thrown far above where it began, that spent its run on the way back."""
    first, level = first_level(value), part(value, 0.8, 1.0)
    calm = rolling_median(value, max(3, min(31, len(value) // 30)))
    noisy = noise(value[len(value) // 2 :]) > 0.2 * level
    if value.min() <= 0 or noisy or calm.max() < THROWN * first or level >= first:
        return None
    if float(np.mean(calm > 1.2 * first)) < LONG or level < LATE * first:
        return None
    return resting(value, first, level, from_start=True)


def classes_by_accuracy(timeline: Timeline, value: Values) -> int | None:
    """Number of classes whose chance both the first losses and the first accuracies are at."""
    _, right = finite_of(timeline, Signal.TRAIN_ACCURACY)
    if len(right) < 20:
        return None
    count = round(float(np.exp(min(first_level(value), 5.0))))
    if count < 3 or abs(first_level(value) - log(count)) > 0.03 * log(count):
        return None
    guessed = float(np.mean(right[: max(3, len(right) // 30)] / unit_of(right)))
    return count if abs(guessed - 1.0 / count) <= 0.15 else None
