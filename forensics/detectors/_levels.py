"""Levels at which a loss rests: where a flat stretch begins, and what its height is known as."""

from dataclasses import dataclass, replace
from math import log

import numpy as np

from forensics.detectors._context import finite_of
from forensics.detectors._progress import accuracy_of_a_guess
from forensics.detectors._robust import (
    block_medians,
    noise,
    quantum,
    rolling_median,
    slope,
)
from forensics.detectors._spikes import SpikeRule, find_spikes
from forensics.medians import MEDIAN_ERROR, median
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline


@dataclass(frozen=True, eq=False)
class Flat:
    start: int
    """Position from which the level no longer changes."""
    level: float
    initial: float
    improvement: float
    """Share of the initial level that was lost before the plateau."""
    doubt: float = 0.0
    """What noise in the first points adds to it at most, in the same unit."""


def flat_tail(step: Steps, value: Values, flat: float) -> Flat | None:
    """The longest tail without a trend, if it covers at least half of the log."""
    thin_step, thin = block_medians(step, value, 512)
    width = max(3, min(31, len(thin) // 10))
    middle = rolling_median(thin, width)
    level = median(thin[len(thin) // 2 :])
    sigma = max(noise(thin), 0.5 * quantum(value))
    band = max(flat * abs(level), 2.5 * sigma / np.sqrt(width))
    away = np.flatnonzero(np.abs(middle - level) > band)
    start = int(away[-1]) + 1 if len(away) else 0
    tail = thin[start:]
    if len(tail) < 0.5 * len(thin):
        return None
    change, error = slope(tail)
    if abs(change) > max(2.0 * error, flat * abs(level)) or abs(change) > 2.0 * flat * abs(level):
        return None
    head = max(1, min(3, len(thin) // 20))
    initial = median(thin[:head])
    position = int(np.searchsorted(step, thin_step[start]))
    improvement = (initial - level) / abs(initial) if initial else 0.0
    doubt = 2.0 * MEDIAN_ERROR * noise(thin) / np.sqrt(head) / max(abs(initial), 1e-12)
    return Flat(position, level, initial, improvement, float(doubt))


def at_chance(config: Config, value: Values) -> Flat | None:
    """A loss that begins and ends at ln(classes): a slow trend there is memorising."""
    width = max(3, len(value) // 10)
    initial, level = median(value[:width]), median(value[-width:])
    for count in (config.num_classes, config.vocab_size):
        if count and count > 1:
            chance = log(count)
            if abs(initial - chance) <= 0.05 * chance and abs(level - chance) <= 0.05 * chance:
                return Flat(0, level, initial, (initial - level) / chance)
    return None


def flat_as_a_whole(value: Values) -> Flat:
    """A log that is flat as a whole; its first tenth tells where it began."""
    initial = median(value[: max(3, len(value) // 10)])
    level = median(value[len(value) // 2 :])
    return Flat(0, level, initial, (initial - level) / abs(initial) if initial else 0.0)


def left_guessing(
    timeline: Timeline,
    config: Config,
    step: Steps,
    value: Values,
    found: Flat | None,
    early: float,
    rule: SpikeRule,
) -> Flat | None:
    """What is left of a model that an early jump of the loss has destroyed: a guess.

    The accuracy tells, or else a flat loss that is exactly that of a guess among a few classes.
    """
    jump = next((e.onset_step for e in find_spikes(timeline, rule)), int(step[0]))
    start = int(np.searchsorted(step, jump))
    if start > early * len(value):
        return None
    rest = value[start + len(value) // 10 :]
    middle, level = median(rest[: len(rest) // 3]), median(rest[len(rest) // 2 :])
    first = float(value[0])
    flat = level >= (1.0 - early) * middle
    jumped = float(value[: start + len(value) // 10].max()) >= 2.0 * max(first, level)
    exact = found is not None and jumped and _is_guess(config, found.level)
    if not flat or not (exact or accuracy_of_a_guess(timeline, config)):
        return None
    return Flat(start, level, first, (first - level) / abs(first) if first else 0.0)


def _is_guess(config: Config, level: float, *, tolerance: float = 0.005) -> bool:
    counts = (config.num_classes,) if config.num_classes else (*range(2, 21), 100, 1_000)
    return any(c > 1 and abs(level - log(c)) <= tolerance * log(c) for c in counts)


def with_classes_shown(
    timeline: Timeline, config: Config, level: float, *, most: int = 100, apart: float = 0.125
) -> Config:
    """The settings with the number of classes that loss and accuracy show between them.

    A uniform guess among n costs ln(n) and is right in 1 of n cases; nothing else does both.

    Args:
        timeline: The run.
        config: Returned as it is where it names classes or tokens.
        level: The loss on which the run rests.
        most: Classes beyond which the accuracies of batches tell nothing.
        apart: Distance from ln(n) that still counts as at it, as a share of that to ln(n + 1).
    """
    track = finite_of(timeline, Signal.TRAIN_ACCURACY)[1]
    right = track if len(track) >= 8 else finite_of(timeline, Signal.EVAL_ACCURACY)[1]
    if config.num_classes or config.vocab_size or len(right) < 8 or not 0 < level < log(most):
        return config
    count = round(float(np.exp(level)))
    half = right[len(right) // 2 :] / (100.0 if right.max() > 1.0 else 1.0)
    room = max(0.2 / count, 2.0 * float(half.std()) / len(half) ** 0.5)
    guesses = count >= 3 and abs(float(half.mean()) - 1 / count) <= min(room, 0.5 / count)
    if not guesses or abs(level - log(count)) > apart / count:
        return config
    return replace(config, num_classes=count)


def _others_of_a_batch(
    config: Config, level: float, *, least: int = 8, tolerance: float = 0.003
) -> tuple[int, int] | None:
    """Candidates among which a contrastive loss guesses, and the batch that holds them.

    Two views of n samples each make 2n - 1 others, pairs of two kinds n of the other kind.
    """
    if config.num_classes or config.vocab_size or level <= 0:
        return None
    sizes = {n for n in (config.micro_batch, config.effective_batch) if n and n >= least}
    near = [
        (abs(level - log(count)) / log(count), count, n)
        for n in sizes
        for count in (n, n - 1, 2 * n - 1, 2 * n)
    ]
    off, count, n = min(near, default=(1.0, 0, 0))
    return (count, n) if off <= tolerance else None


def name_of(config: Config, found: Flat) -> tuple[str, str]:
    for kind, count, noun in (
        ("ln_classes", config.num_classes, "classes"),
        ("ln_vocab", config.vocab_size, "tokens"),
    ):
        if count and count > 1 and abs(found.level - log(count)) <= 0.05 * log(count):
            return kind, f"ln({count:,}) = {log(count):.3f}, chance among {count:,} {noun}"
    others = _others_of_a_batch(config, found.level)
    if others is not None:
        return "ln_batch", (
            f"ln({others[0]:,}) = {log(others[0]):.3f}, chance among the {others[0]:,} candidates "
            f"that batches of {others[1]:,} offer each sample"
        )
    tokens = config.vocab_size
    if tokens and tokens > 1 and 0.5 * log(tokens) <= found.level < log(tokens):
        return "token_entropy", (
            f"{found.level / log(tokens):.0%} of ln({tokens:,}) = {log(tokens):.3f}: about what "
            "token frequencies alone would give"
        )
    if config.num_classes and 0 < found.level < log(config.num_classes):
        return "label_entropy", (
            f"below ln({config.num_classes:,}) = {log(config.num_classes):.3f}: what predicting "
            "class frequencies alone would give"
        )
    if abs(found.level - found.initial) <= 0.05 * abs(found.initial):
        return "initial", "the level at which the run began"
    return "unnamed", ""
