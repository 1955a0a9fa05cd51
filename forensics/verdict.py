"""Verdict: everything the report shows, judged but not yet worded or drawn."""

from dataclasses import dataclass
from enum import StrEnum

from forensics.case import Case
from forensics.findings import Change, Hypothesis, Outcome


class CheckpointState(StrEnum):
    """What is known of a checkpoint (CONTRACT.md)."""

    HEALTHY = "healthy"
    SUSPECT = "suspect"
    POISONED = "poisoned"
    UNREADABLE = "unreadable"
    NOT_SCANNED = "not_scanned"


@dataclass(frozen=True)
class CheckpointVerdict:
    """One checkpoint, judged."""

    path: str
    step: int | None
    scanned: bool
    finite: bool | None
    non_finite_tensors: tuple[str, ...]
    state: CheckpointState
    reason: str


@dataclass(frozen=True)
class Recommendation:
    """What to do now."""

    resume_from: str | None
    resume_step: int | None
    resume_reason: str
    """Why from there, or why from nowhere."""
    skip_steps: tuple[int, ...]
    changes: tuple[Change, ...]
    keep_optimizer: bool | None = None
    """May its optimizer state be loaded too? None: there is none to judge, or it was not read."""
    optimizer_reason: str = ""
    """Why, or why it cannot be told; '' where there is nothing to resume from."""


@dataclass(frozen=True)
class CheckItem:
    """One line of the stability checklist, held against this run's own configuration."""

    name: str
    advice: str
    """The rule with its number, such as 'clip the global norm near 1.0'."""
    found: str
    """What this run did, or 'unknown'."""
    good: bool | None
    """None: the run does not say."""


class Scale(StrEnum):
    """How often a monitor looks."""

    STEP = "per step"
    WINDOW = "per window"
    VALIDATION = "per validation"


@dataclass(frozen=True)
class Monitor:
    """One alarm to set before the restart, with this run's numbers."""

    scale: Scale
    rule: str
    """Such as 'stop when grad_norm > 12.3 (10 x its median 1.23)'."""
    would_stop_at: int | None
    """The step at which it would have stopped this run; None: it would not, or cannot be told."""


@dataclass(frozen=True)
class Cost:
    """What the failure cost."""

    steps_after_onset: int | None
    hours_after_onset: float | None
    share_of_run: float | None
    """Share of all logged steps that came after the onset, 0 to 1."""


@dataclass(frozen=True)
class OtherRun:
    """A run of the same folder that is not the one diagnosed."""

    path: str
    """The name that ``--run`` takes."""
    outcome: Outcome
    cause: str


@dataclass(frozen=True, eq=False)
class Verdict:
    """One run, diagnosed."""

    case: Case
    sentence: str
    """The verdict in one sentence."""
    hypotheses: tuple[Hypothesis, ...]
    """By rank; the first is the diagnosis. Those ruled out come last."""
    unexplained: float
    """Probability of none of the named causes."""
    checkpoints: tuple[CheckpointVerdict, ...]
    last_healthy: CheckpointVerdict | None
    first_bad: CheckpointVerdict | None
    recommendation: Recommendation
    checklist: tuple[CheckItem, ...]
    pilot: tuple[str, ...]
    """The pilot run before the restart, one instruction each, with this run's numbers."""
    monitors: tuple[Monitor, ...]
    cost: Cost
    other_runs: tuple[OtherRun, ...]
    warnings: tuple[str, ...]
