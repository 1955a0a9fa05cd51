"""Lines between the rows of a table that prove something: a traceback, a kill, a guard."""

from collections.abc import Sequence
from dataclasses import dataclass

from forensics.readers._tables.axis import choose_axis
from forensics.readers._tables.table import Table
from forensics.readers._text.events import Events
from forensics.run import Axis, TextEvidence

MOST = 10_000
"""Lines kept of one file."""


@dataclass(frozen=True)
class Remark:
    """A line that is no row."""

    line: int
    """1-based."""
    rows: int
    """How many rows stand before it."""
    text: str


def evidence(remarks: Sequence[Remark], table: Table, source: str) -> tuple[TextEvidence, ...]:
    """What the lines between the rows prove, each with the last step before it."""
    events = Events()
    for remark in remarks:
        events.feed(remark.text, remark.line, remark.line)
    found, _ = events.finish()
    if not found:
        return ()
    rows = {remark.line: remark.rows for remark in remarks}
    x = choose_axis(table) if table.length else None
    steps = x.place.tolist() if x is not None and x.axis is Axis.STEP else []
    return tuple(
        TextEvidence(
            kind=event.kind,
            text=event.text,
            source=source,
            line=event.line,
            step=event.step if event.step is not None else _step(steps, rows[event.line]),
        )
        for event in found
    )


def _step(steps: Sequence[int], rows: int) -> int | None:
    return steps[rows - 1] if 0 < rows <= len(steps) else None
