"""Looks at whether the run did all that it was to do."""

from forensics.case import Case
from forensics.causes._base import Seen
from forensics.run import Axis, TextKind
from forensics.signals import Signal


def stopped_short(case: Case, share: float = 0.95) -> Seen:
    """The log ends well before the planned end, and nothing says that this was meant.

    A run that still goes on looks the same.
    """
    found = _done(case)
    if found is None:
        return Seen(None, "Needs the planned number of steps or epochs.")
    done, withheld, planned, unit = found
    ends = f"The log ends at {unit} {done:,.0f} of {planned:,.0f} planned"
    if done + withheld >= share * planned:
        return Seen(False, f"{ends}: that was the plan.")
    if case.text_of(TextKind.RUN_FINISHED, TextKind.INTERRUPTED):
        return Seen(None, f"{ends}, and says so.")
    return Seen(True, f"{ends}, and nothing says why.")


def _done(case: Case) -> tuple[float, float, float, str] | None:
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
