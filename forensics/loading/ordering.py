"""Puts the sources of one run in the order in which they were written."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from forensics.loading.strands import Strand
from forensics.natural_order import natural_key

_EVENT_FILE = re.compile(r"tfevents\.(\d{9,10})\.")
_DATES = (
    (re.compile(r"(\d{8})[-_](\d{6})"), "%Y%m%d%H%M%S"),
    (re.compile(r"(\d{4}-\d{2}-\d{2})[-_T ](\d{2}[-:.]\d{2}[-:.]\d{2})"), "%Y-%m-%d%H-%M-%S"),
)


def in_time(strands: Sequence[Strand]) -> list[Strand]:
    """Strands by their start: by the clock where all say it, else by first step and name.

    A later attempt must come after the one it goes on from: its steps then go back, and the
    timeline sees the rewind.
    """
    starts = [started(strand) for strand in strands]
    if all(start is not None for start in starts):
        keyed = [
            (start, natural_key(s.source.path), s) for start, s in zip(starts, strands, strict=True)
        ]
    else:
        keyed = [(_first_step(s), natural_key(s.source.path), s) for s in strands]
    return [strand for _, _, strand in sorted(keyed, key=lambda entry: entry[:2])]


def started(strand: Strand) -> float | None:
    """When the strand began, seconds since the epoch: its first wall time, or its file's name."""
    walls = [s.wall_time for s in strand.series if s.wall_time is not None and len(s.step)]
    finite = [float(w[np.isfinite(w)].min()) for w in walls if np.isfinite(w).any()]
    return min(finite) if finite else time_in_path(strand.source.path)


def time_in_path(path: str) -> float | None:
    """The time that the name of an event file or of a dated folder or file says."""
    event_file = _EVENT_FILE.search(path)
    if event_file:
        return float(event_file[1])
    for pattern, form in _DATES:
        found = list(pattern.finditer(path))
        if found:
            digits = re.sub(r"[:.]", "-", found[-1][1] + found[-1][2])
            try:
                return datetime.strptime(digits, form).replace(tzinfo=UTC).timestamp()
            except ValueError:
                continue
    return None


def _first_step(strand: Strand) -> float:
    if strand.curve is not None and len(strand.curve.step):
        return float(strand.curve.step[0])
    return min((float(s.step[0]) for s in strand.series if len(s.step)), default=0.0)
