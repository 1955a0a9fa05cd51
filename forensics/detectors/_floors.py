"""Poor floors: a loss that came down a little, quickly, and then rested far from done.

A model that learns nothing but frequencies stops at their entropy: tokens at half of ln(vocabulary)
or more (single characters of English 2.85 of ln 128 = 4.85, pairs of them 2.4; BPE tokens 7.3 of
10.8), classes just below ln(classes). A flat loss alone is how healthy runs end, so each rule here
needs a height that is known: by the configuration, by the accuracy, or by a validation that was as
flat from its first value on.
"""

from collections.abc import Callable
from dataclasses import replace
from math import log

import numpy as np

from forensics.detectors._context import finite_of
from forensics.detectors._facts import learning_rate_facts
from forensics.detectors._levels import Flat
from forensics.detectors._robust import block_medians, noise, rolling_median
from forensics.medians import MEDIAN_ERROR, median
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

LETTERS = 40
"""Smaller vocabularies (bases, amino acids, letters of names) have entropies close to their ln."""
PIECES = 1_000
"""From here on tokens are pieces of words; below they are characters."""
OF_LETTERS, OF_PIECES = 0.48, 0.6
"""Share of ln(vocabulary) from which a level is one of frequencies."""
UNTOLD = (3.0, 14.0)
"""First losses, in nats, that are ln of a vocabulary where the configuration names none."""
LOST_LOGIT = 1e3
"""Attention logit from which the loss suffers (small-scale proxies, 2309.14322: 1e3 harms, 1e4
diverged); a floor is then told from four fifths of the usual level on."""
STOPPED = 0.08
"""Share of all progress that may fall to the last two thirds of a run that stopped early; training
that goes on makes a sixth and more of it there. Half as much again for characters, which end at
half of ln(vocabulary) only where something is wrong."""
OF_CLASSES, SLOWED = 0.85, 0.5
"""The same for classes, whose labels a model goes on memorising."""
NEAR = 0.05
"""Share of the fall within which a loss has come down to its floor."""
STILL, ALIKE = 0.01, 0.15
"""Relative change of what did not move, and difference of what are the same level."""
FAR_ABOVE, STILL_HIGH, LATE = 10.0, 1 / 3, 0.15
"""Began at so many times chance, ends above this share of it, was above it for this share."""


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
        found = _never_loaded(config, thin)
    else:
        found = _first_of(timeline, config, thin_step, thin)
    if found is None:
        return None
    return replace(found, start=int(np.searchsorted(step, thin_step[found.start])))


def _first_of(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    rules: tuple[Callable[[], Flat | None], ...] = (
        lambda: _of_tokens(timeline, config, step, value),
        lambda: _untold(timeline, config, value),
        lambda: _of_classes(timeline, config, step, value),
        lambda: _never_came_near(timeline, config, step, value),
        lambda: _unmoved(timeline, value),
        lambda: _without_a_rate(timeline, step, value),
    )
    return next((found for rule in rules if (found := rule()) is not None), None)


def _never_loaded(config: Config, value: Values) -> Flat | None:
    """A model said to be trained that begins at chance among its tokens and ends at frequencies."""
    chance = log(max(2, config.vocab_size or 2))
    first, level = _first(value), _part(value, 0.8, 1.0)
    if chance < log(LETTERS) or first < 0.95 * chance or level < OF_LETTERS * chance:
        return None
    return _resting(value, first, level, from_start=True)


def _of_tokens(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    count = config.vocab_size
    if not count or count < LETTERS:
        return None
    chance = log(count)
    share, late = (OF_LETTERS, 1.5 * STOPPED) if count < PIECES else (OF_PIECES, STOPPED)
    if _attention_is_gone(timeline):
        share *= 0.8
    first, level = _first(value), _part(value, 0.8, 1.0)
    if not share * chance <= level <= chance or not _stopped(value, max(first, chance), late):
        return None
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(evals) and not 0.95 * share * chance <= evals[-1] <= 2.0 * chance:
        return None
    above = first > 1.5 * chance
    if above and not _same_unit(timeline, step, value):
        return None
    return _resting(value, max(first, chance), level, from_start=above)


def _attention_is_gone(timeline: Timeline) -> bool:
    """Attention logits above a thousand for most of the run: the heads no longer choose."""
    for track in (*timeline.tracks.values(), *timeline.others):
        named = any(w in track.tag.lower() for w in ("attn", "attention", "qk"))
        if track.signal is Signal.ACTIVATION and named and len(track) >= 5:
            held = track.value[track.finite]
            if len(held) and float(np.quantile(held, 0.4)) > LOST_LOGIT:
                return True
    return False


def _untold(timeline: Timeline, config: Config, value: Values) -> Flat | None:
    """Tokens of a vocabulary that is not told; validation must have been flat all along."""
    first, level = _first(value), _part(value, 0.8, 1.0)
    low, high = UNTOLD
    told = config.vocab_size or config.num_classes
    if told or not low <= first <= high or not OF_LETTERS * first <= level <= first:
        return None
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(evals) < 3 or evals.min() < OF_LETTERS * first:
        return None
    fell = float(evals[0] - evals[-1])
    moved = fell > STOPPED * (first - level) and not _attention_is_gone(timeline)
    if moved or not _stopped(value, first, STOPPED):
        return None
    return _resting(value, first, level)


def _of_classes(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    count = config.num_classes or classes_by_accuracy(timeline, value)
    if not count or not 3 <= count <= 100:
        return None
    chance, level = log(count), _part(value, 0.8, 1.0)
    if not OF_CLASSES * chance <= level <= chance or not _stopped(value, chance, SLOWED):
        return None
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    _, right = finite_of(timeline, Signal.TRAIN_ACCURACY)
    learned = len(right) >= 5 and median(right[-len(right) // 5 :] / _unit(right)) > 0.65
    if learned or (len(evals) and evals[-1] < 0.6 * chance):
        return None
    # It lost less than a sixth of what there was to lose: it never fell to speak of.
    return _resting(value, max(chance, _first(value)), level, from_start=True)


def _never_came_near(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    """A loss that began many times above chance and spent its run on the way down to it."""
    count = config.num_classes or config.vocab_size
    if not count or count < 2 or value.min() <= 0:
        return None
    chance, first, level = log(count), _first(value), _part(value, 0.8, 1.0)
    late = bool(np.mean(value > chance) > LATE)
    far = first >= FAR_ABOVE * chance and level >= STILL_HIGH * chance
    if not (far and late and _same_unit(timeline, step, value)):
        return None
    return _resting(value, first, level, from_start=True)


def _unmoved(timeline: Timeline, value: Values) -> Flat | None:
    """A training loss too noisy to tell, and a validation that did not move from its first value.

    It must be the level at which training began: what a trained model is given to learn may be
    little, but then its validation loss moves.
    """
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(evals) < 4 or evals.min() <= 0:
        return None
    head = max(3, len(value) // 20)
    initial, level = median(value[:head]), _part(value, 0.5, 1.0)
    still = float(np.ptp(evals)) <= STILL * float(evals.min())
    near = initial - level <= ALIKE * level and abs(evals[0] - level) <= ALIKE * level
    fell = median(value[: len(value) // 3]) - _part(value, 2 / 3, 1.0)
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
    level, first = _part(value, 0.5, 1.0), _first(value)
    if level < STILL_HIGH * first:
        return None
    return Flat(start, level, first, (first - level) / max(abs(first), 1e-12))


def classes_by_accuracy(timeline: Timeline, value: Values) -> int | None:
    """Number of classes whose chance both the first losses and the first accuracies are at."""
    _, right = finite_of(timeline, Signal.TRAIN_ACCURACY)
    if len(right) < 20:
        return None
    count = round(float(np.exp(min(_first(value), 5.0))))
    if count < 3 or abs(_first(value) - log(count)) > 0.03 * log(count):
        return None
    guessed = float(np.mean(right[: max(3, len(right) // 30)] / _unit(right)))
    return count if abs(guessed - 1.0 / count) <= 0.15 else None


def _stopped(value: Values, initial: float, share: float) -> bool:
    """True where at most ``share`` of all progress was made in the last two thirds."""
    level = _part(value, 0.8, 1.0)
    return _part(value, 0.3, 0.45) - level <= share * max(initial - level, 1e-12)


def _same_unit(timeline: Timeline, step: Steps, value: Values) -> bool:
    """True where validation is of the size of training, so that neither is a sum of many."""
    eval_step, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(evals) == 0 or evals.min() <= 0:
        return False
    near = [median(value[max(0, i - 3) : i + 3]) for i in np.searchsorted(step, eval_step)]
    return abs(log(median(evals / np.maximum(near, 1e-12)))) <= log(1.7)


def _resting(value: Values, initial: float, level: float, *, from_start: bool = False) -> Flat:
    """The floor, begun where the loss had first come down to it."""
    start = 0
    if not from_start:
        calm = rolling_median(value, max(1, min(31, len(value) // 60)))
        there = max(level, _part(value, 0.3, 0.45))
        start = int(np.argmax(calm <= there + NEAR * (initial - there)))
    return Flat(start, level, initial, (initial - level) / initial)


def _first(value: Values) -> float:
    return median(value[:3]) if len(value) >= 60 else float(value[0])


def _part(value: Values, begin: float, end: float) -> float:
    """Median over a part of the log, given in shares of it."""
    return median(value[int(begin * len(value)) : max(1, int(end * len(value)))])


def _unit(share: Values) -> float:
    """100 where accuracies are in percent."""
    return 100.0 if share.max() > 1.0 else 1.0
