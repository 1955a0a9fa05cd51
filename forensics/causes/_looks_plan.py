"""Looks at whether the run did all that it was to do."""

from forensics.case import Case
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.findings import Outcome
from forensics.outcome.plan import done
from forensics.run import TextKind


def stopped_short(case: Case) -> Seen:
    """The log ends well before the planned end, and nothing says that this was meant.

    A run that still goes on looks the same.
    """
    if case.judgement.outcome is Outcome.UNKNOWN:
        return NOT_APPLICABLE  # An excerpt of a log ends where it was cut.
    found = done(case.timeline, case.config)
    if found is None:
        return Seen(None, "Needs the planned number of steps or epochs.")
    ends = f"The log ends at {found.unit} {found.reached:,.0f} of {found.planned:,.0f} planned"
    if found.complete:
        return Seen(False, f"{ends}: that was the plan.")
    if case.text_of(TextKind.RUN_FINISHED, TextKind.INTERRUPTED):
        return Seen(None, f"{ends}, and says so.")
    return Seen(True, f"{ends}, and nothing says why.")
