"""The object that any file of torch's holds, new or old."""

from pathlib import Path
from typing import Any

from forensics.checkpoints import _torch
from forensics.checkpoints._reading import address, head, open_regular
from forensics.errors import UnreadableFile


def read_root(path: Path) -> tuple[Any, tuple[str, ...]]:
    """The object, its tensors as `StoredTensor`, and remarks on the file's state.

    Raises:
        UnreadableFile: It is no file of torch's, or its pickle is gone.
    """
    start = head(path, len(_torch.LEGACY_MAGIC))
    try:
        with open_regular(path) as file:
            if start == _torch.LEGACY_MAGIC:
                saved = _torch.open_stream(file, address(path))
            elif start.startswith(b"PK\x03\x04"):
                saved = _torch.open_archive(file, address(path))
            else:
                raise UnreadableFile("is empty" if not start else "was not written by torch")
    except UnreadableFile as error:
        raise UnreadableFile(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error
    return saved.root, saved.notes
