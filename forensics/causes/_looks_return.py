"""Looks at the return of a policy, which tells where a loss does not."""

from forensics.case import Case
from forensics.causes._base import NOT_APPLICABLE, Look, Seen
from forensics.detectors._returns import course_of
from forensics.phrasing import number


def return_rose(case: Case) -> Seen:
    """The return ends above where it began."""
    course = course_of(case.timeline)
    if course is None:
        return NOT_APPLICABLE
    return Seen(
        course.rose, f"The return went from {number(course.start)} to {number(course.final)}."
    )


def where_loss_tells(look: Look) -> Look:
    """The look at a loss, silent where the run is judged by its return instead."""

    def silenced(case: Case) -> Seen:
        return look(case) if course_of(case.timeline) is None else NOT_APPLICABLE

    return silenced
