"""One event file to arrays grouped by tag, with what was lost on the way."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from forensics.readers._base import Progress
from forensics.readers._event_file.columns import Alike, Points, points_of, split_by_layout
from forensics.readers._event_file.framing import Span
from forensics.readers._event_file.layout import Text
from forensics.readers._event_file.stream import PIECE, read_pieces
from forensics.readers._event_file.tag_table import TagTable
from forensics.readers._event_file.texts import decoded, settings_of
from forensics.run import Steps, Values


@dataclass(frozen=True, eq=False)
class Tagged:
    """The scalars of one tag in file order; arrays of shape (n,)."""

    tag: str
    step: Steps
    value: Values
    wall_time: Values
    """Seconds since the epoch, zero where absent."""


@dataclass(frozen=True, eq=False)
class Collected:
    """What an event file holds."""

    scalars: tuple[Tagged, ...]
    """By first appearance."""
    settings: Mapping[str, Any]
    records: int
    """Intact records, whatever they hold."""
    foreign: int
    """Those of them that are no events."""
    lost: tuple[Span, ...]
    broken_archive: bool


def collect(path: Path, progress: Progress, piece_size: int = PIECE) -> Collected:
    """Read a file from one end to the other.

    Raises:
        OSError: The file may not be read.
    """
    tags, columns, texts = TagTable(), _Columns(), _Texts()
    lost: list[Span] = []
    records = foreign = 0
    broken = False
    for piece in read_pieces(path, progress, piece_size):
        points: list[Points] = []
        for alike in (each for batch in piece.batches for each in split_by_layout(batch)):
            records += len(alike.number)
            foreign += 0 if alike.layout.valid else len(alike.number)
            points += points_of(alike, tags)
            texts.add(alike)
        columns.add(points)
        texts.end_piece()
        lost += piece.lost
        broken |= piece.broken_archive
    scalars = tuple(columns.finished(tags.names))
    return Collected(scalars, texts.settings, records, foreign, tuple(lost), broken)


class _Columns:
    """The scalars of each tag, in memory that grows in place: it is most of what is needed."""

    def __init__(self) -> None:
        self._grown: dict[int, tuple[bytearray, bytearray, bytearray]] = {}

    def add(self, points: list[Points]) -> None:
        """Append the points of one piece, those of a tag in file order."""
        by_tag: dict[int, list[Points]] = {}
        for part in points:
            by_tag.setdefault(part.tag, []).append(part)
        merged = [parts[0] if len(parts) == 1 else _merged(parts) for parts in by_tag.values()]
        for part in sorted(merged, key=lambda part: int(part.number[0])):
            grown = self._grown.setdefault(part.tag, (bytearray(), bytearray(), bytearray()))
            for column, more in zip(grown, (part.step, part.value, part.wall_time), strict=True):
                column += more.data

    def finished(self, names: list[bytes]) -> Iterator[Tagged]:
        """Every tag with all of its points, by first appearance."""
        for tag, (step, value, wall_time) in self._grown.items():
            yield Tagged(
                decoded(names[tag]),
                np.frombuffer(step, np.int64),
                np.frombuffer(value, np.float64),
                np.frombuffer(wall_time, np.float64),
            )


def _merged(parts: list[Points]) -> Points:
    """The same points of one tag in file order; of one event in the order in which they came."""
    number = np.concatenate([part.number for part in parts])
    order = np.argsort(number, kind="stable")
    return Points(
        parts[0].tag,
        number[order],
        np.concatenate([part.step for part in parts])[order],
        np.concatenate([part.value for part in parts])[order],
        np.concatenate([part.wall_time for part in parts])[order],
    )


class _Texts:
    """Settings written as text; of each tag the first that the file holds."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self._known: set[bytes] = set()
        self._piece: list[tuple[int, bytes, Text]] = []

    def add(self, alike: Alike) -> None:
        """Note the texts of some events of the current piece."""
        if alike.layout.texts:
            for number, row in zip(alike.number.tolist(), alike.rows, strict=True):
                self._piece += [(number, row.tobytes(), text) for text in alike.layout.texts]

    def end_piece(self) -> None:
        """Read the noted texts in file order."""
        for _, payload, text in sorted(self._piece, key=lambda noted: noted[0]):
            tag = payload[text.tag]
            if tag not in self._known:
                self._known.add(tag)
                for key, value in settings_of(payload, text).items():
                    self.settings.setdefault(key, value)
        self._piece.clear()
