"""Floors that a setting explains: a rate or a decay far beyond what any recipe uses.

A loss that came part of the way and then slowed is how many healthy runs look. Where a learning
rate ten times the highest documented one, or a decay that shrinks the weights many times within
the run, goes with it, the run did not get on because of that.
"""

from math import log

from forensics.detectors._context import finite_of
from forensics.detectors._facts import learning_rate_facts
from forensics.detectors._floor_shape import first_level, part, resting, stopped
from forensics.detectors._levels import Flat
from forensics.medians import median
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

RATE_OF_ADAM, RATE_OF_ANY = 0.1, 10.0
"""Ten times what UMLAUT (CHI 2021) flags for Adam is 1e-1; SGD's highest are a few units."""
OWN_SCALES = ("adagrad", "adadelta", "adafactor", "prodigy", "dadapt")
"""Adaptive optimizers whose rates are near 1 by design."""
FORGOTTEN = 0.25
"""Share of the run in which a decay takes two thirds of every weight: less is far too fast."""
DECOUPLED, COUPLED = 1e-2, 1e-3
"""Share of the weights that a step takes. Usual are 1e-5 to 1e-4 (3e-4 x 0.1, 0.1 x 5e-4)."""
FAR, FAR_AT_LAST = 0.35, 0.25
"""Share of the first loss that is still there in the middle, and in the end."""
ROUND_TWO = 0.72
"""Losses that stay below this may be those of two classes, with little to learn."""
OF_SINGLES, OF_PAIRS, SLOWED = 0.6, 0.48, 0.16
"""Shares of chance that frequencies of single characters and of pairs leave, and share of all
progress that may fall to the last two thirds for the latter to count."""
DOWN = 0.25
"""Share of the fall within which a loss that creeps on has come down."""


def of_settings(timeline: Timeline, config: Config, step: Steps, value: Values) -> Flat | None:
    """A loss that stayed far from done under a rate or decay that no recipe uses, or None."""
    rate = _peak(timeline, config)
    if rate is None or not (_rate_is_absurd(config, rate) or _forgets(timeline, config, rate)):
        return None
    first, level = first_level(value), part(value, 0.8, 1.0)
    chance = _chance(config)
    top = max(first, chance or 0.0)
    if top <= 0 or value.min() <= 0 or _two_classes(config, max(first, level)):
        return None
    if part(value, 0.4, 0.8) < FAR * top or level < FAR_AT_LAST * top:
        return None
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(evals) and evals[-1] < 0.5 * level:
        return None
    never = first > 1.5 * chance if chance else level > 0.85 * top
    return resting(value, top, min(level, top), from_start=never, near=DOWN)


def _peak(timeline: Timeline, config: Config) -> float | None:
    facts = learning_rate_facts(timeline)
    return facts.peak if facts is not None else config.lr_peak


def _is_adam(config: Config) -> bool:
    name = (config.optimizer or "").lower()
    return "ada" in name if name else config.betas is not None


def _rate_is_absurd(config: Config, rate: float) -> bool:
    name = (config.optimizer or "").lower()
    if any(own in name for own in OWN_SCALES):
        return False
    return rate >= (RATE_OF_ADAM if _is_adam(config) else RATE_OF_ANY)


def _forgets(timeline: Timeline, config: Config, rate: float) -> bool:
    """Decay takes two thirds of a weight within a small share of the run."""
    decay = config.weight_decay or 0.0
    taken = rate * decay
    if taken < (DECOUPLED if _is_adam(config) else COUPLED):
        return False
    span = max(1, timeline.last_step - timeline.first_step)
    return 1.0 / taken <= FORGOTTEN * span


def _chance(config: Config) -> float | None:
    count = config.num_classes or config.vocab_size
    return log(count) if count and count > 1 else None


def _two_classes(config: Config, highest: float) -> bool:
    """True where the loss may be one of two classes, in which a level says little."""
    return config.num_classes == 2 or (
        not config.num_classes and not config.vocab_size and 0.6 < highest < ROUND_TWO
    )


def ended_at_frequencies(timeline: Timeline, config: Config, value: Values) -> Flat | None:
    """Characters whose planned training is over, at or above what their frequencies alone give.

    The rate has come down to nothing: what still fell with it will fall no further.
    """
    count = config.vocab_size
    if not count or not 100 <= count < 1_000 or not _is_over(timeline, config):
        return None
    chance, first, level = (
        log(count),
        first_level(value),
        median(value[-max(3, len(value) // 20) :]),
    )
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    apart = len(evals) > 0 and not 0.9 * level <= evals[-1] <= 2.0 * chance
    slowed = stopped(value, max(first, chance), SLOWED)
    least = OF_PAIRS if slowed else OF_SINGLES
    if apart or first > 1.2 * chance or not least * chance <= level <= chance:
        return None
    return resting(value, max(first, chance), level, from_start=True)


def _is_over(timeline: Timeline, config: Config) -> bool:
    """True where the planned steps are done and the rate has come down to nothing."""
    facts, planned = learning_rate_facts(timeline), config.total_steps
    if planned is not None and timeline.last_step < 0.98 * planned:
        return False
    if facts is None:
        decays = any(word in (config.schedule or "") for word in ("cosine", "linear"))
        return planned is not None and decays
    return facts.last <= 0.02 * facts.peak
