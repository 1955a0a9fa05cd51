"""When a step lies: before the failure, after it, or in between two logged points."""

from enum import StrEnum

from forensics.case import Case
from forensics.findings import Outcome


class Place(StrEnum):
    """Where a step lies with respect to the onset."""

    BEFORE = "before"
    BETWEEN = "between"  # after the last good logged point, before the first bad one
    AFTER = "after"  # at the onset or later
    UNKNOWN = "unknown"  # the step itself is not known
    NO_ONSET = "no onset"  # nothing failed, or not in what was logged


def failed_at(case: Case) -> int | None:
    """Step at which the run went wrong; None: it did not, or was merely killed."""
    outcome = case.judgement.outcome
    failed = outcome.is_failure and outcome is not Outcome.CRASHED
    return case.judgement.onset_step if failed else None


def wrong_from_start(case: Case) -> bool:
    """True where no logged point lies before the failure: no state of the run is worth keeping."""
    onset = failed_at(case)
    return onset is not None and onset <= case.timeline.first_step


def place(case: Case, step: int | None) -> Place:
    """Where a step lies; weights written at the last good logged step still count as before."""
    onset, after = failed_at(case), case.judgement.after_step
    if onset is None:
        return Place.NO_ONSET
    if step is None:
        return Place.UNKNOWN
    if after is not None and step <= after:
        return Place.BEFORE
    if step >= onset:
        return Place.AFTER
    return Place.BETWEEN if after is not None else Place.BEFORE
