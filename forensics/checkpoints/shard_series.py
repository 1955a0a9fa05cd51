"""One of several numbered shards without an index: all of them are the checkpoint."""

from pathlib import Path

from forensics.checkpoints._base import Opened, Opener
from forensics.checkpoints._contents import opened
from forensics.checkpoints._sharding import read_series, series_of
from forensics.checkpoints._single import files_of, is_single
from forensics.errors import UnreadableFile


def sniff(path: Path) -> bool:
    """A file of a known format, numbered ``00001-of-00004``."""
    return path.is_file() and bool(series_of(path, [path])) and is_single(path)


def open_series(path: Path) -> Opened:
    """Open all shards that are there.

    Raises:
        UnreadableFile: None of them can be read.
    """
    piece = read_series(series_of(path, files_of(path.parent)))
    if not piece.kind:
        raise UnreadableFile(str(piece.notes[0]))
    return opened(path, f"{piece.kind}, sharded", [piece.parts], piece.notes)


OPENER = Opener("numbered shards", 12, sniff, open_series)
