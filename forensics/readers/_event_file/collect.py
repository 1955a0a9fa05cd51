"""One event file to arrays grouped by tag, with what was lost on the way."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    scalars = tuple(columns.joined(tags.names))
    return Collected(scalars, texts.settings, records, foreign, tuple(lost), broken)


class _Columns:
    """Grows by the points of a piece at a time; compact, since it lives as long as the file."""

    def __init__(self) -> None:
        self._parts: dict[int, list[tuple[Steps, Values, Values]]] = {}

    def add(self, points: list[Points]) -> None:
        """Append the points of one piece: sorted by tag, those of a tag in file order."""
        if not points:
            return
        number = np.concatenate([p.number for p in points])
        tag = np.concatenate([p.tag for p in points])
        order = np.argsort(number, kind="stable")
        order = order[_by_tag(tag[order])]
        step = np.concatenate([p.step for p in points])[order]
        value = np.concatenate([p.value for p in points])[order]
        wall_time = np.concatenate([p.wall_time for p in points])[order]
        tag, number = tag[order], number[order]
        begin = np.flatnonzero(np.diff(tag, prepend=-1))
        end = np.append(begin[1:], len(tag))
        for i in np.argsort(number[begin], kind="stable"):
            part = slice(begin[i], end[i])
            columns = self._parts.setdefault(int(tag[begin[i]]), [])
            columns.append((step[part], value[part], wall_time[part]))

    def joined(self, names: list[bytes]) -> Iterator[Tagged]:
        """Every tag with all of its points, by first appearance."""
        for tag, parts in self._parts.items():
            step, value, wall_time = (np.concatenate(column) for column in zip(*parts, strict=True))
            yield Tagged(decoded(names[tag]), step, value, wall_time)


def _by_tag(tag: NDArray[np.int64]) -> NDArray[np.int64]:
    """Shape (n,): the order that sorts by tag and keeps all else as it is."""
    key = tag.astype(np.uint16) if tag.max() < 1 << 16 else tag
    return np.argsort(key, kind="stable")  # a radix sort where the key is short


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
