"""Floors of language models: what the frequencies of tokens alone give.

That is half of ln(vocabulary) or more: single characters of English 2.85 of ln 128 = 4.85, pairs of
them 2.4; pieces of words 7.3 of 10.8.
"""

from math import log

import numpy as np

from forensics.detectors._context import finite_of
from forensics.detectors._floor_shape import first_level, part, resting, same_unit, stopped
from forensics.detectors._levels import Flat
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
FAR_OFF, SLOW, FAR_YET = 1.7, 0.08, 0.25
"""Times chance at which a loss began, share of the run for which it was above chance, and share of
chance at which it ends. Losses in bits are 1.44 times those in nats."""
STOPPED = 0.08
"""Share of all progress that may fall to the last two thirds of a run that stopped early; training
that goes on makes a sixth and more of it there. Half as much again for characters, which end at
half of ln(vocabulary) only where something is wrong; half as much where the rate came down to the
end of the plan, for a short one ends there too."""
FALLING = ("cosine", "linear", "polynomial", "wsd", "onecycle")
"""Schedules that bring the rate down by the end of the plan."""


def never_loaded(config: Config, value: Values) -> Flat | None:
    """A model said to be trained that begins at chance among its tokens and ends at frequencies."""
    chance = log(max(2, config.vocab_size or 2))
    first, level = first_level(value), part(value, 0.8, 1.0)
    if chance < log(LETTERS) or first < 0.95 * chance or level < OF_LETTERS * chance:
        return None
    return resting(value, first, level, from_start=True)


def of_tokens(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    count = config.vocab_size
    if not count or count < LETTERS:
        return None
    chance = log(count)
    of_letters = OF_LETTERS, (0.5 if _ended_as_planned(config, step) else 1.5) * STOPPED
    share, late = of_letters if count < PIECES else (OF_PIECES, STOPPED)
    if _attention_is_gone(timeline):
        share *= 0.8
    first, level = first_level(value), part(value, 0.8, 1.0)
    if not share * chance <= level <= chance or not stopped(value, max(first, chance), late):
        return None
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(evals) and not 0.95 * share * chance <= evals[-1] <= 2.0 * chance:
        return None
    above = first > 1.5 * chance
    if above and not same_unit(timeline, step, value):
        return None
    return resting(value, max(first, chance), level, from_start=above)


def _ended_as_planned(config: Config, step: Steps) -> bool:
    """True where all planned steps were done, under a rate that came down for the last of them."""
    planned = config.total_steps
    return bool(planned and config.schedule in FALLING and step[-1] >= 0.95 * planned)


def began_far_off(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    """Characters that began far above chance, took long to come down to it, and lack the time."""
    count = config.vocab_size
    if not count or not LETTERS <= count < PIECES or value.min() <= 0:
        return None
    chance, first, level = log(count), first_level(value), part(value, 0.8, 1.0)
    late = float(np.mean(value > chance)) > SLOW
    if first < FAR_OFF * chance or not late or level < FAR_YET * chance:
        return None
    if not same_unit(timeline, step, value):
        return None
    return resting(value, first, level, from_start=True)


def _attention_is_gone(timeline: Timeline) -> bool:
    """Attention logits above a thousand for most of the run: the heads no longer choose."""
    for track in (*timeline.tracks.values(), *timeline.others):
        named = any(w in track.tag.lower() for w in ("attn", "attention", "qk"))
        if track.signal is Signal.ACTIVATION and named and len(track) >= 5:
            held = track.value[track.finite]
            if len(held) and float(np.quantile(held, 0.4)) > LOST_LOGIT:
                return True
    return False


def of_untold_tokens(timeline: Timeline, config: Config, value: Values) -> Flat | None:
    """Tokens of a vocabulary that is not told; validation must have been flat all along."""
    first, level = first_level(value), part(value, 0.8, 1.0)
    low, high = UNTOLD
    told = config.vocab_size or config.num_classes
    if told or not low <= first <= high or not OF_LETTERS * first <= level <= first:
        return None
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(evals) < 3 or evals.min() < OF_LETTERS * first:
        return None
    fell = float(evals[0] - evals[-1])
    moved = fell > STOPPED * (first - level) and not _attention_is_gone(timeline)
    if moved or not stopped(value, first, STOPPED):
        return None
    return resting(value, first, level)
