"""One file of a save, read: what it holds and what became of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forensics.checkpoints._base import Opened, Opener
from forensics.checkpoints._contents import Parts, opened
from forensics.checkpoints._reading import is_blank, open_regular
from forensics.found import Note

BLANK = "holds nothing but zeros, as far as was looked: it may never have been written"


@dataclass(frozen=True, eq=False)
class Piece:
    """What one file holds."""

    kind: str
    """Name of the format, as users know it."""
    parts: Parts
    notes: tuple[Note, ...] = ()


Read = Callable[[Path], Piece]
"""Raises:
    UnreadableFile: Nothing at all could be read.
"""


def file_opener(name: str, order: int, sniff: Callable[[Path], bool], read: Read) -> Opener:
    """An opener for a format that is a single file."""

    def open_file(path: Path) -> Opened:
        before = path.stat().st_size
        piece = read(path)
        notes = list(piece.notes)
        if path.stat().st_size != before:
            notes.append(Note("changes while it is read: it is still being written", str(path)))
        return opened(path, piece.kind, [piece.parts], notes)

    return Opener(name, order, sniff, open_file)


def notes_on(path: Path, remarks: tuple[str, ...]) -> tuple[Note, ...]:
    """The remarks as notes on a file."""
    return tuple(Note(remark, str(path)) for remark in remarks)


def blank_note(path: Path, bodies: tuple[tuple[int, int], ...]) -> tuple[Note, ...]:
    """A note where the (offset, bytes) of all tensors seem never to have been written."""
    if sum(nbytes for _, nbytes in bodies) < 4096:
        return ()
    with open_regular(path) as file:
        return notes_on(path, (BLANK,)) if is_blank(file, bodies) else ()
