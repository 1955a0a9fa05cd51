"""What replaying the run told: one value per experiment, measured and not yet judged.

Values only. An experiment that was not done is None or an empty tuple; `ReplayFacts.left_out` and
`ReplayFacts.failures` say why.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from forensics.batch_facts import BatchSurvey
from forensics.replay_facts._batches import BatchMeasure, Comparison, Role
from forensics.replay_facts._checks import (
    Determinism,
    LabelShifts,
    LineSearch,
    LoadCheck,
    ModeCheck,
    MomentCheck,
    Overfit,
    Ranks,
)
from forensics.replay_facts._operations import NonFiniteOperation, NonFiniteSearch, Phase
from forensics.replay_facts._stretches import AsRun, Counterfactual, Trajectory, Variant


@dataclass(frozen=True)
class ReplayFacts:
    """Everything the replay told about one run."""

    source: str
    """The replay file, or the adapter that stood in for it."""
    device: str
    """``cpu`` or ``cuda:0``, with the reason for the choice in words."""
    precision: str
    """fp32, bf16 or fp16, as the run trained."""
    seconds: float
    """Wall time of the whole battery."""
    budget: float
    suspect_step: int | None = None
    checkpoint: str = ""
    """The one replayed from, relative to the run; '': freshly built weights."""
    checkpoint_step: int | None = None
    next_step: int | None = None
    """The first step replayed from it."""
    alignment: str = ""
    """How ``next_step`` was found, in words."""
    loads: tuple[LoadCheck, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    determinism: Determinism | None = None
    as_run: AsRun | None = None
    searches: tuple[NonFiniteSearch, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()
    shifts: LabelShifts | None = None
    overfit: Overfit | None = None
    line: LineSearch | None = None
    moments: MomentCheck | None = None
    modes: ModeCheck | None = None
    ranks: Ranks | None = None
    audit: BatchSurvey | None = None
    """The contents of the suspect batch and its controls, as the replay file loads them."""
    seconds_of: Mapping[str, float] = field(default_factory=dict)
    """Experiment -> wall time."""
    left_out: tuple[str, ...] = ()
    """Experiments that were not done, each with its reason."""
    failures: tuple[str, ...] = ()
    """What went wrong in the user's functions: one plain message each, naming file and line."""

    def variant(self, variant: Variant) -> Counterfactual | None:
        """One counterfactual, or None where it was not run."""
        return next((c for c in self.counterfactuals if c.variant is variant), None)

    def comparison(self, role: Role) -> Comparison | None:
        """The comparison at one checkpoint, or None where it was not made."""
        return next((c for c in self.comparisons if c.role is role), None)


__all__ = [
    "AsRun",
    "BatchMeasure",
    "Comparison",
    "Counterfactual",
    "Determinism",
    "LabelShifts",
    "LineSearch",
    "LoadCheck",
    "ModeCheck",
    "MomentCheck",
    "NonFiniteOperation",
    "NonFiniteSearch",
    "Overfit",
    "Phase",
    "Ranks",
    "ReplayFacts",
    "Role",
    "Trajectory",
    "Variant",
]
