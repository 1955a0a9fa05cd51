"""The words for what the tool itself names: quantities, outcomes, states and strengths."""

from enum import StrEnum
from itertools import pairwise
from math import sqrt

from forensics.causes import _base
from forensics.findings import Ending, Episode, EpisodeKind, Outcome, Severity, Status, Symptom
from forensics.quantities import is_better, named
from forensics.report.wording import words
from forensics.signals import Signal
from forensics.verdict import CheckpointState


class Tone(StrEnum):
    """How something is coloured; always said in words as well."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    NEUTRAL = "neutral"


_OUTCOMES = {
    Outcome.HEALTHY: ("Healthy", Tone.GOOD, "It trained as it should."),
    Outcome.SPIKED_RECOVERED: (
        "Spiked, recovered",
        Tone.WARN,
        "It left its normal band and came back.",
    ),
    Outcome.SPIKED_UNRECOVERED: (
        "Spiked, not recovered",
        Tone.BAD,
        "It left its normal band and ends above it, yet below where training began.",
    ),
    Outcome.DIVERGED: (
        "Diverged",
        Tone.BAD,
        "It ends at or above where training began, or is still climbing away.",
    ),
    Outcome.NON_FINITE: (
        "Non-finite",
        Tone.BAD,
        "Loss, gradient or weights became NaN or infinite and stayed so.",
    ),
    Outcome.STALLED: ("Stalled", Tone.BAD, "It never fell to speak of, or stopped far from done."),
    Outcome.OVERFIT: ("Overfit", Tone.BAD, "Validation turned while training went on falling."),
    Outcome.VALIDATION_FAILED: (
        "Validation failed",
        Tone.BAD,
        "Training is fine; validation is broken for another reason.",
    ),
    Outcome.CRASHED: (
        "Crashed",
        Tone.BAD,
        "The process ended before its planned end, without a numerical failure in what it left.",
    ),
    Outcome.UNKNOWN: ("Unknown", Tone.NEUTRAL, "What is left of the run does not settle it."),
}
_SYMPTOMS = {
    Symptom.NONE: "no symptom",
    Symptom.SINGLE_SPIKE_RECOVERS: "a single spike that recovers",
    Symptom.CONSECUTIVE_SPIKES: "several spikes in a row",
    Symptom.SPIKE_NEVER_RECOVERS: "a spike that never recovers",
    Symptom.FIRST_STEP_NON_FINITE: "not finite from the first step",
    Symptom.LATE_NON_FINITE: "not finite after a good start",
    Symptom.NO_PROGRESS: "no progress",
    Symptom.VALIDATION_ONLY: "only validation is affected",
    Symptom.CRASH: "the process died",
}
_CHECKPOINTS = {
    CheckpointState.HEALTHY: ("healthy", Tone.GOOD),
    CheckpointState.SUSPECT: ("suspect", Tone.WARN),
    CheckpointState.POISONED: ("poisoned", Tone.BAD),
    CheckpointState.UNREADABLE: ("unreadable", Tone.BAD),
    CheckpointState.NOT_SCANNED: ("not scanned", Tone.NEUTRAL),
}
_STATUS_TONES = {
    Status.CONFIRMED: Tone.BAD,
    Status.LIKELY: Tone.BAD,
    Status.POSSIBLE: Tone.WARN,
    Status.RULED_OUT: Tone.NEUTRAL,
}
_SEVERITY_TONES = {
    Severity.INFO: Tone.NEUTRAL,
    Severity.WARNING: Tone.WARN,
    Severity.FAILURE: Tone.BAD,
}
_ENDINGS = {
    Ending.RECOVERED: "recovered",
    Ending.DIVERGED: "diverged",
    Ending.PERSISTED: "lasts to the end",
    Ending.CENSORED: "the log ends first",
}
_STRENGTHS = ("weak", "moderate", "strong", "decisive")
_BOUNDS = tuple(
    sqrt(a * b) for a, b in pairwise((_base.WEAK, _base.MODERATE, _base.STRONG, _base.DECISIVE))
)
"""A weight belongs to the named one that is nearest as a factor."""


def signal(quantity: Signal) -> str:
    """The quantity in words."""
    return named(quantity)


def kind(episode: EpisodeKind) -> str:
    """The kind of an episode in words."""
    return words(episode.value).replace("lr ", "learning rate ").replace("non finite", "non-finite")


def outcome(value: Outcome) -> tuple[str, Tone, str]:
    """Label, tone and meaning of an outcome."""
    return _OUTCOMES[value]


def symptom(value: Symptom) -> str:
    """What a person saw, in words."""
    return _SYMPTOMS[value]


def checkpoint(state: CheckpointState) -> tuple[str, Tone]:
    """Word and tone of a checkpoint's state."""
    return _CHECKPOINTS[state]


def status_tone(status: Status) -> Tone:
    """Tone of a hypothesis' status."""
    return _STATUS_TONES[status]


def severity_tone(severity: Severity) -> Tone:
    """Tone of an episode's severity."""
    return _SEVERITY_TONES[severity]


def ending(episode: Episode) -> str:
    """How an episode ended, in words: a level that lasts is better, worse or merely another."""
    if episode.ending is not Ending.SETTLED:
        return _ENDINGS[episode.ending]
    before, after = _levels(episode)
    if before is None or after is None or before == after:
        return "settled at another level"
    better = is_better(episode.signal, before, after)
    if better is None:
        return f"settled at a {'higher' if after > before else 'lower'} level"
    return f"settled at a {'better' if better else 'worse'} level"


def _levels(episode: Episode) -> tuple[float | None, float | None]:
    """Where the quantity stood before and where it came to rest, as far as the episode tells."""
    d = episode.details
    before = d.get("before", episode.baseline)
    after = d.get("after", d.get("final", episode.peak_value))
    numbers = tuple(float(v) if isinstance(v, int | float) else None for v in (before, after))
    return numbers[0], numbers[1]


def strength(weight: float) -> tuple[int, str]:
    """Level 1 to 4 of a piece of evidence, and its word."""
    level = sum(abs(weight) >= bound for bound in _BOUNDS)
    return level + 1, _STRENGTHS[level]
