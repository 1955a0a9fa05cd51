"""One line for each file that could not be read as it was when its header was read."""

import os
from collections.abc import Iterable, Mapping

from forensics.found import Note
from forensics.remote import is_remote
from forensics.scan.counting import Counted
from forensics.scan.planning import Task

Stamps = Mapping[str, tuple[int, int] | None]
"""Size and time of change of each local file."""


def stamps_of(tasks: Iterable[Task]) -> Stamps:
    """Look at every file that the tasks read."""
    paths = {e.path for task in tasks for part in task for e in part.tensor.extents}
    return {path: _stamp(path) for path in sorted(paths) if not is_remote(path)}


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def notes_on(sources: Iterable[Counted], stamps: Stamps) -> tuple[Note, ...]:
    """A note for each file with a problem: what it was, and how many tensors it cost.

    Args:
        sources: What was counted.
        stamps: Of the files before the scan.
    """
    problems: dict[str, str] = {}
    tensors: dict[str, int] = {}
    for counted in sources:
        if counted.problem:
            problems.setdefault(counted.path, counted.problem)
            tensors[counted.path] = tensors.get(counted.path, 0) + 1
    for path in (path for path, stamp in stamps.items() if stamp != _stamp(path)):
        problems.setdefault(path, "changed while it was read: its figures may mix two saves")
    return tuple(
        Note(problem + _cost(tensors.get(path, 0)), path) for path, problem in problems.items()
    )


def _cost(tensors: int) -> str:
    if not tensors:
        return ""
    return "; 1 tensor is incomplete" if tensors == 1 else f"; {tensors:,} tensors are incomplete"
