"""What stands under the figure of a replay: a line of the key for each trajectory."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forensics.report.figures import Line
from forensics.report.view import change_words


@dataclass(frozen=True)
class LineKey:
    """One line and what it stands for."""

    colour: str
    """Name of a colour of the figures."""
    kind: str
    text: str


@dataclass(frozen=True)
class ReplayCaption:
    """The words around the figure."""

    title: str
    """Read aloud in place of the figure."""
    key: tuple[LineKey, ...]
    notes: tuple[str, ...]


def replay_caption(lines: Sequence[Line]) -> ReplayCaption:
    """Word the caption of the lines a figure draws, the one in front first."""
    key = [LineKey(line.colour, line.kind, _words(line)) for line in _own(lines)]
    kept = [line for line in lines if line.kind == "kept"]
    if kept:
        key.append(LineKey(kept[0].colour, "kept", "every other change"))
    broken = any(not np.isfinite(v).all() for line in lines for v in line.values.values())
    notes = ["✕ NaN and ▲ infinite, at the first such step of a line."] if broken else []
    told = ", ".join(item.text for item in key)
    return ReplayCaption(f"Loss and gradient norm, replayed: {told}.", tuple(key), tuple(notes))


def _own(lines: Sequence[Line]) -> list[Line]:
    """The lines with a colour of their own: log and run first, then the changes."""
    order = {"logged": 0, "as_run": 1, "removed": 2}
    named = [line for line in reversed(lines) if line.kind in order]
    return sorted(named, key=lambda line: order[line.kind])


def _words(line: Line) -> str:
    if line.change is not None:
        return change_words(line.change)
    return "logged" if line.kind == "logged" else "replayed as it was run"
