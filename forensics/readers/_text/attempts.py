"""Which headers open an attempt, and the settings that hold at the end."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from forensics.readers._text.events import Event
from forensics.readers._text.headers import Header
from forensics.readers._text.rows import Ordinals
from forensics.run import TextKind

_ENDS = frozenset(
    {
        TextKind.TRACEBACK,
        TextKind.KILLED,
        TextKind.TIME_LIMIT,
        TextKind.RUN_FINISHED,
        TextKind.LOST_PEER,
    }
)
_MOST_NAMED = 8


def all_headers(dumps: Sequence[Header], events: Sequence[Event]) -> list[Header]:
    """Argument dumps, and lines that say that training starts, in the order of the file."""
    said = [e for e in events if e.kind is TextKind.RUN_STARTED]
    headers = [*dumps, *(Header(e.at, e.line, e.text, {}, opens=True) for e in said)]
    return sorted(headers, key=lambda header: header.at)


def find_attempts(
    headers: Sequence[Header], events: Sequence[Event], rows: Sequence[Ordinals]
) -> list[Header]:
    """The headers that open an attempt: those with rows or an end between them and the last.

    Args:
        headers: In the order of the file.
        events: What the file proves.
        rows: Places of the lines that log how training goes, any number of arrays.
    """
    ends = np.array([e.at for e in events if e.kind in _ENDS], dtype=np.int64)
    marks = np.sort(np.concatenate([*rows, ends]))
    attempts: list[Header] = []
    last = -1
    for header in headers:
        if not header.opens:
            continue
        between = np.searchsorted(marks, header.at) - np.searchsorted(marks, last)
        if last < 0 or between:
            attempts.append(header)
        last = header.at
    return attempts


def last_settings(
    headers: Sequence[Header], attempts: Sequence[Header]
) -> tuple[dict[str, Any], list[str]]:
    """The settings of the last attempt upon those before, and what changed between attempts."""
    settings: dict[str, Any] = {}
    changed: dict[str, None] = {}
    written: dict[str, int] = {}
    starts = [attempt.at for attempt in attempts]
    for header in headers:
        attempt = int(np.searchsorted(starts, header.at, side="right"))
        for key, value in header.settings.items():
            if written.get(key, attempt) < attempt and settings[key] != value:
                changed[key] = None
            settings[key], written[key] = value, attempt
    if not changed:
        return settings, []
    names = ", ".join(list(changed)[:_MOST_NAMED]) + (", …" if len(changed) > _MOST_NAMED else "")
    return settings, [f"settings differ between attempts, those of the last are kept: {names}"]
