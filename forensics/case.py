"""Case: everything known about one run, as the causes see it. No file is read after this."""

from dataclasses import dataclass, field

from forensics.batch_facts import BatchSurvey
from forensics.checkpoint_facts import CheckpointSurvey
from forensics.findings import (
    ClipFacts,
    Episode,
    EpisodeKind,
    Judgement,
    LearningRateFacts,
    TensorStats,
)
from forensics.replay_facts import ReplayFacts
from forensics.run import Config, Run, TextEvidence, TextKind
from forensics.signals import Signal
from forensics.timeline import Timeline, Track


@dataclass(frozen=True, eq=False)
class Case:
    """The evidence of one run; a part that was not looked at is None, never empty."""

    run: Run
    timeline: Timeline
    episodes: tuple[Episode, ...]
    judgement: Judgement
    lr: LearningRateFacts | None = None
    """None: the learning rate was not logged."""
    clip: ClipFacts | None = None
    """None: no pre-clip norm was logged, or the threshold is not known."""
    tensors: tuple[TensorStats, ...] | None = None
    """None: no checkpoint was scanned."""
    unreadable: tuple[str, ...] = ()
    """Checkpoints of which nothing could be read."""
    survey: CheckpointSurvey | None = None
    """None: no checkpoint's values were looked at."""
    batches: BatchSurvey | None = None
    """None: no batch was looked at."""
    replay: ReplayFacts | None = None
    """None: nothing was replayed."""
    skipped: tuple[str, ...] = field(default=())
    """Checks that could not run, each with its reason."""

    @property
    def config(self) -> Config:
        """The settings of the run."""
        return self.run.config

    def track(self, signal: Signal) -> Track | None:
        """The track of a quantity, or None where it was not logged."""
        return self.timeline.get(signal)

    def episodes_of(self, *kinds: EpisodeKind) -> tuple[Episode, ...]:
        """Episodes of the given kinds, in step order."""
        return tuple(e for e in self.episodes if e.kind in kinds)

    def text_of(self, *kinds: TextKind) -> tuple[TextEvidence, ...]:
        """Lines of text evidence of the given kinds, in file order."""
        return tuple(t for t in self.run.text if t.kind in kinds)
