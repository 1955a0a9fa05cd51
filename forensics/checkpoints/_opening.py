"""Opens a checkpoint of any format: each opener is asked in turn whether it is its own."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from forensics import checkpoints as room
from forensics.checkpoints._base import Opened, Opener
from forensics.checkpoints._bounds import within_bounds
from forensics.checkpoints._reading import head, reason
from forensics.errors import UnreadableFile
from forensics.found import FoundCheckpoint, Note
from forensics.registry import collect

MOST_NOTES = 40


@functools.cache
def openers() -> tuple[Opener, ...]:
    """Every opener, in the order in which they are asked."""
    return tuple(sorted(collect(room, "OPENER"), key=lambda opener: opener.order))


def open_checkpoint(path: Path, beside: Sequence[Path] = ()) -> Opened:
    """Read what a checkpoint holds and where; of the tensors themselves nothing is read.

    Args:
        path: A file, or the folder of one save.
        beside: Further files of the same save, where it is a file: its optimizer, its scaler.

    Raises:
        UnreadableFile: It is of no known format, or nothing at all could be read from it.
    """
    try:
        path.stat()
        if beside and path.is_file():
            from forensics.checkpoints._save_folder import opened_files

            return _told_shortly(within_bounds(opened_files(path, beside)))
        for opener in openers():
            if opener.sniff(path):
                return _told_shortly(within_bounds(opener.open(path)))
    except OSError as error:
        raise UnreadableFile(f"{path}: {reason(error)}") from error
    raise UnreadableFile(f"{path}: {_unknown(path)}")


def open_found(root: Path, found: FoundCheckpoint) -> Opened:
    """Open a checkpoint that was found in a run directory, with what lies beside it.

    Raises:
        UnreadableFile: It is of no known format, or nothing at all could be read from it.
    """
    path = root if found.path == "." else root / found.path
    return open_checkpoint(path, [root / one for one in found.beside])


def _told_shortly(opened: Opened) -> Opened:
    """The checkpoint with the first of its notes, where there are very many."""
    if len(opened.notes) <= MOST_NOTES:
        return opened
    rest = Note(f"and {len(opened.notes) - MOST_NOTES:,} notes more", opened.path)
    return replace(opened, notes=(*opened.notes[:MOST_NOTES], rest))


def _unknown(path: Path) -> str:
    start = head(path, 4096)
    if path.is_file() and not start.strip(b"\0"):
        return "begins with zeros: it was never written" if start else "is empty"
    return "is no checkpoint of a known format"
