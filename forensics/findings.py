"""What was found: episodes, facts, evidence, hypotheses. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from forensics.signals import Signal
from forensics.tensor_stats import TensorStats as TensorStats


class Severity(StrEnum):
    """How much an episode matters for the outcome."""

    INFO = "info"
    WARNING = "warning"
    FAILURE = "failure"


class Ending(StrEnum):
    """How an episode ended."""

    RECOVERED = "recovered"
    SETTLED = "settled"  # stable, at a worse level than before
    DIVERGED = "diverged"  # still rising, or at or above where training began
    PERSISTED = "persisted"  # a state rather than an event: it lasts to the end of the log
    CENSORED = "censored"  # the log ends before it can be told


class EpisodeKind(StrEnum):
    """What happened to one quantity over some steps."""

    LOSS_SPIKE = "loss_spike"
    CONSECUTIVE_SPIKES = "consecutive_spikes"
    DIVERGENCE = "divergence"
    PLATEAU = "plateau"
    NON_FINITE = "non_finite"
    HIDDEN_NON_FINITE = "hidden_non_finite"  # the logger shows a finite number for a NaN
    GRADIENT_SPIKE = "gradient_spike"
    GRADIENT_EXPLOSION = "gradient_explosion"
    CLIP_SATURATION = "clip_saturation"
    LOSS_SCALE_COLLAPSE = "loss_scale_collapse"
    SKIPPED_STEPS = "skipped_steps"
    OVERFIT = "overfit"
    VALIDATION_FAILURE = "validation_failure"
    RESUME_JUMP = "resume_jump"  # a discontinuity at a resume
    LEVEL_SHIFT = "level_shift"
    LR_JUMP = "lr_jump"
    LR_ZERO = "lr_zero"
    RETURN_COLLAPSE = "return_collapse"  # of a policy
    DISCRIMINATOR_WON = "discriminator_won"  # the game of two networks is over

    @property
    def noun(self) -> str:
        """What happened, in a sentence: ``loss spike``, ``non-finite value``."""
        return self.value.replace("_", " ").replace("non finite", "non-finite value")


@dataclass(frozen=True)
class Episode:
    """One thing that happened; steps are in the run's own numbering."""

    kind: EpisodeKind
    signal: Signal
    onset_step: int
    """First logged step outside the band."""
    severity: Severity
    ending: Ending
    after_step: int | None = None
    """Last logged step still inside the band: the onset lies in (after_step, onset_step].

    Of a validation that turned, both are the step of the best one.
    """
    peak_step: int | None = None
    peak_value: float | None = None
    recovery_step: int | None = None
    baseline: float | None = None
    """Level before the onset, in the signal's unit."""
    height: float | None = None
    """Largest distance from the baseline in robust standard deviations."""
    first_mover: Signal | None = None
    """The quantity that left its band first, where it is another one."""
    first_mover_step: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """Numbers particular to the kind (``level_name``, ``share``, ``count``, ``speed`` …)."""


@dataclass(frozen=True)
class LearningRateFacts:
    """What the logged learning rate did."""

    peak: float
    peak_step: int
    first: float
    last: float
    warmup_steps: int
    """Steps from the first logged one to the first at 99 % of the peak; 0: no warm-up."""
    constant: bool
    zero_from: int | None
    """First step from which the rate is zero to the end, None if it is not."""
    jumps: tuple[int, ...]
    """Steps at which the rate rises by more than half its value, outside the warm-up."""
    drops: tuple[int, ...]
    """Steps at which it falls by more than a third at once (a step decay)."""
    restarts: tuple[int, ...] = ()
    """Steps at which it broke off in the middle of its decay and rose to its peak again."""


@dataclass(frozen=True)
class ClipFacts:
    """How gradient clipping worked, from pre-clip norms and the configured threshold."""

    threshold: float
    share: float
    """Share of logged steps with a norm above the threshold, 0 to 1."""
    recent_share: float
    """The same over the last tenth before the onset."""


@dataclass(frozen=True)
class Evidence:
    """One clue as it stood for one hypothesis."""

    text: str
    supports: bool
    weight: float
    """Natural-log likelihood ratio, positive for, negative against."""
    source: str
    clue: str = ""
    steps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Change:
    """One setting to change before the next start."""

    setting: str
    before: Any
    after: Any


class Status(StrEnum):
    """How sure a hypothesis is."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    POSSIBLE = "possible"
    RULED_OUT = "ruled_out"


@dataclass(frozen=True)
class Hypothesis:
    """One root cause, weighed."""

    rank: int
    cause: str
    title: str
    family: str
    probability: float
    status: Status
    evidence: tuple[Evidence, ...]
    missing: tuple[str, ...]
    verify: str
    fix: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    skip_steps: tuple[int, ...] = ()


class Outcome(StrEnum):
    """How the run ended (CONTRACT.md)."""

    HEALTHY = "healthy"
    SPIKED_RECOVERED = "spiked_recovered"
    SPIKED_UNRECOVERED = "spiked_unrecovered"
    DIVERGED = "diverged"
    NON_FINITE = "non_finite"
    STALLED = "stalled"
    OVERFIT = "overfit"
    VALIDATION_FAILED = "validation_failed"
    CRASHED = "crashed"
    UNKNOWN = "unknown"

    @property
    def is_failure(self) -> bool:
        """True where the run did not do what it was started for."""
        return self not in (Outcome.HEALTHY, Outcome.SPIKED_RECOVERED, Outcome.UNKNOWN)


class Symptom(StrEnum):
    """What a person saw (CONTRACT.md)."""

    NONE = "none"
    SINGLE_SPIKE_RECOVERS = "single_spike_recovers"
    CONSECUTIVE_SPIKES = "consecutive_spikes"
    SPIKE_NEVER_RECOVERS = "spike_never_recovers"
    FIRST_STEP_NON_FINITE = "first_step_non_finite"
    LATE_NON_FINITE = "late_non_finite"
    NO_PROGRESS = "no_progress"
    VALIDATION_ONLY = "validation_only"
    CRASH = "crash"


@dataclass(frozen=True)
class Judgement:
    """The outcome with its reason; ``onset_step`` is the first mover's."""

    outcome: Outcome
    symptom: Symptom
    onset_step: int | None
    after_step: int | None
    """Last logged step before the onset."""
    first_mover: Signal | None
    reason: str
    """One sentence with this run's numbers."""
    decisive: Episode | None = None
    headline: str = ""
    """What the verdict says where the outcome's own words do not fit the run; '' where they do."""
