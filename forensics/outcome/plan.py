"""How far a run came of what it was to do."""

from dataclasses import dataclass

from forensics.run import Axis, Config
from forensics.signals import Signal
from forensics.timeline import Timeline

NEARLY = 0.95
"""Share of the plan that counts as done: logs and planned steps are seldom exact."""


@dataclass(frozen=True)
class Done:
    """What was done of a plan, in the unit that the plan is in."""

    reached: float
    planned: float
    unit: str
    """step or epoch."""
    withheld: float
    """What the log may hold back at its end."""

    @property
    def complete(self) -> bool:
        """True where nothing to speak of is missing."""
        return self.share >= NEARLY

    @property
    def share(self) -> float:
        """Share of the plan that may have been done."""
        return (self.reached + self.withheld) / self.planned


def done(timeline: Timeline, config: Config) -> Done | None:
    """How far the run came; None where its plan or its unit is not known."""
    if config.total_steps:
        held = 3 * timeline.interval
        found = Done(timeline.last_step, config.total_steps, "step", held)
        return found if timeline.axis is Axis.STEP else None
    if not config.epochs:
        return None
    if timeline.axis is Axis.EPOCH:
        return Done(timeline.last_step, config.epochs, "epoch", 1)
    epochs = timeline.get(Signal.EPOCH)
    if epochs is None or not epochs.finite.any():
        return None
    return Done(float(epochs.value[epochs.finite].max()), config.epochs, "epoch", 1)
