"""What `torch.save` has written since 1.6: a zip, whatever the file is called.

Also Lightning's ``.ckpt`` and TorchScript archives, which are the same on the outside.
"""

from pathlib import Path
from typing import Any

from forensics.checkpoints import _torch
from forensics.checkpoints._contents import sort_out
from forensics.checkpoints._piece import Piece, blank_note, file_opener, notes_on
from forensics.checkpoints._reading import address, open_regular
from forensics.checkpoints._zip import first_name
from forensics.errors import UnreadableFile


def sniff(path: Path) -> bool:
    """A zip whose first entry is ``data.pkl`` or another of torch's."""
    first = first_name(path) or ""
    name = first.rpartition("/")[2]
    return name in ("data.pkl", "version", "byteorder", ".format_version") or "/data/" in first


def read(path: Path) -> Piece:
    """Read the pickle; where the tensors lie follows from it.

    Raises:
        UnreadableFile: Its pickle is gone, or asks for what no real one would.
    """
    try:
        with open_regular(path) as file:
            saved = _torch.open_archive(file, address(path))
    except UnreadableFile as error:
        raise UnreadableFile(f"{path}: {error}") from error
    return as_piece(path, saved, "torch zip")


def as_piece(path: Path, saved: "_torch.TorchFile", kind: str) -> Piece:
    """What a file of torch's holds."""
    notes = notes_on(path, saved.notes) + blank_note(path, saved.bodies)
    return Piece(_producer(saved.root) or kind, sort_out(saved.root), notes)


def _producer(root: Any) -> str:
    """The framework that shows itself in the save, or ''."""
    keys = root if isinstance(root, dict) else {}
    return "lightning" if "pytorch-lightning_version" in keys else ""


OPENER = file_opener("torch zip", 20, sniff, read)
