"""What a verdict does not rest on: checks without data, and what a healthy run did not show."""

import re
from collections.abc import Iterator, Sequence

from forensics.case import Case
from forensics.outcome.plan import done
from forensics.phrasing import count
from forensics.run import TextKind
from forensics.signals import Signal

_SKIPPED = re.compile(r"(?P<name>\w+): not checked, it needs (?P<needs>.+), which was not logged")
_VALIDATION = (Signal.EVAL_LOSS, Signal.EVAL_ACCURACY, Signal.EVAL_ERROR, Signal.REWARD)


def without_data(skipped: Sequence[str]) -> tuple[str, ...]:
    """The checks that lacked their data in one line, and the others as they are."""
    told = [_SKIPPED.fullmatch(line) for line in skipped]
    rest = tuple(line for line, match in zip(skipped, told, strict=True) if match is None)
    parts = [f"{m['name'].replace('_', ' ')} ({m['needs']})" for m in told if m is not None]
    if not parts:
        return rest
    return (*rest, f"{count(len(parts), 'check')} had no data: {', '.join(parts)}")


def caveats(case: Case) -> tuple[str, ...]:
    """What a healthy verdict does not cover, as clauses."""
    return tuple(_caveats(case))


def _caveats(case: Case) -> Iterator[str]:
    if not any(case.track(signal) is not None for signal in _VALIDATION):
        yield "no validation was logged"
    plan = done(case.timeline, case.config)
    if plan is not None and plan.reached < plan.planned and not plan.complete:
        stopped = case.text_of(TextKind.INTERRUPTED)
        meant = ", where it was stopped" if stopped else ""
        ends = f"{plan.unit} {plan.reached:,.0f} of {plan.planned:,.0f} planned"
        yield f"the log ends at {ends}{meant}"
    unread = sorted({note.source for note in case.run.notes if note.source} & _unread(case))
    if unread:
        shown = unread[0] if len(unread) == 1 else count(len(unread), "file")
        yield f"{shown} could not be read"


def _unread(case: Case) -> set[str]:
    """Files that no reader took."""
    return {record.path for record in case.run.files if not record.format}
