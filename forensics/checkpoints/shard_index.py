"""An index of shards as the checkpoint itself: ``model.safetensors.index.json``."""

from pathlib import Path

from forensics.checkpoints._base import Opened, Opener
from forensics.checkpoints._contents import opened
from forensics.checkpoints._sharding import is_index, read_indexed


def sniff(path: Path) -> bool:
    """JSON that maps tensors to files."""
    return path.is_file() and is_index(path)


def open_index(path: Path) -> Opened:
    """Open all shards that are there.

    Raises:
        UnreadableFile: The index cannot be read, or none of its shards.
    """
    piece = read_indexed(path)
    return opened(path, f"{piece.kind}, sharded", [piece.parts], piece.notes)


OPENER = Opener("shard index", 10, sniff, open_index)
