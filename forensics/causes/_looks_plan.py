"""Looks at whether the run did all that it was to do."""

from dataclasses import dataclass

from forensics.case import Case
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.findings import Outcome
from forensics.run import Axis, TextKind
from forensics.signals import Signal


def stopped_short(case: Case, share: float = 0.95) -> Seen:
    """The log ends well before the planned end, and nothing says that this was meant.

    A run that still goes on looks the same.
    """
    if case.judgement.outcome is Outcome.UNKNOWN:
        return NOT_APPLICABLE  # An excerpt of a log ends where it was cut.
    found = done(case, share)
    if found is None:
        return Seen(None, "Needs the planned number of steps or epochs.")
    ends = f"The log ends at {found.unit} {found.reached:,.0f} of {found.planned:,.0f} planned"
    if found.complete:
        return Seen(False, f"{ends}: that was the plan.")
    if case.text_of(TextKind.RUN_FINISHED, TextKind.INTERRUPTED):
        return Seen(None, f"{ends}, and says so.")
    return Seen(True, f"{ends}, and nothing says why.")


@dataclass(frozen=True)
class Done:
    """How far a run came of what it was to do."""

    reached: float
    planned: float
    unit: str
    complete: bool
    """True where what the log may hold back at its end covers what is missing."""


def done(case: Case, share: float = 0.95) -> Done | None:
    """How far the run came, None where its plan or its unit is not known."""
    found = _counted(case)
    if found is None:
        return None
    reached, withheld, planned, unit = found
    return Done(reached, planned, unit, reached + withheld >= share * planned)


def _counted(case: Case) -> tuple[float, float, float, str] | None:
    """Done, what the log may hold back at its end, planned, and the unit of all three."""
    line, config = case.timeline, case.config
    if config.total_steps:
        held = line.last_step, 3 * line.interval, config.total_steps, "step"
        return held if line.axis is Axis.STEP else None
    if not config.epochs:
        return None
    if line.axis is Axis.EPOCH:
        return line.last_step, 1, config.epochs, "epoch"
    epochs = line.get(Signal.EPOCH)
    if epochs is None or not epochs.finite.any():
        return None
    return float(epochs.value[epochs.finite].max()), 1, config.epochs, "epoch"
