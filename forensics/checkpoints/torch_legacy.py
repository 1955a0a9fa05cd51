"""What `torch.save` wrote before 1.6: a stream of pickles, then the storages."""

from pathlib import Path

from forensics.checkpoints import _torch, torch_zip
from forensics.checkpoints._piece import Piece, file_opener
from forensics.checkpoints._reading import address, head, open_regular
from forensics.errors import UnreadableFile


def sniff(path: Path) -> bool:
    """The pickled magic number of torch."""
    return head(path, len(_torch.LEGACY_MAGIC)) == _torch.LEGACY_MAGIC


def read(path: Path) -> Piece:
    """Read the pickles.

    Raises:
        UnreadableFile: The file ends before its storages begin.
    """
    try:
        with open_regular(path) as file:
            saved = _torch.open_stream(file, address(path))
    except UnreadableFile as error:
        raise UnreadableFile(f"{path}: {error}") from error
    return torch_zip.as_piece(path, saved, "torch legacy")


OPENER = file_opener("torch legacy", 20, sniff, read)
