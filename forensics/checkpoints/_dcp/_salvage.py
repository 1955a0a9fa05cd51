"""Shard files whose ``.metadata`` was never written: the tensors are there, their names are not.

Every shard is a row of small zips, each of which holds one tensor or object.
"""

from collections.abc import Iterator
from pathlib import Path

from forensics.checkpoints._base import Parameter, StoredTensor
from forensics.checkpoints._reading import Source, address, open_regular, read_at, size_of
from forensics.checkpoints._torch import named_and_length, open_archive, with_enough
from forensics.checkpoints._zip import read_local_header
from forensics.errors import UnreadableFile

_ZIP, _END = b"PK\x03\x04", b"PK\x05\x06"
_END_RECORD = 22
_ROOM = 1 << 16
"""Bytes that padding, small entries and directory of such a zip may take."""
MAX_ARCHIVES = 100_000


def salvage_folder(shards: list[Path]) -> dict[str, StoredTensor]:
    """Tensors of all shards, called after file and number: ``__0_0.distcp[3]``."""
    found: dict[str, StoredTensor] = {}
    for shard in shards:
        try:
            with open_regular(shard) as file:
                for number, tensor in enumerate(_tensors(file, address(shard))):
                    name = f"{shard.name}[{number}]"
                    found[name] = tensor
        except (UnreadableFile, OSError):
            continue
    return found


def _tensors(file: Source, path: str) -> Iterator[StoredTensor]:
    size = size_of(file)
    start = 0
    for _ in range(MAX_ARCHIVES):
        if read_at(file, start, 4) != _ZIP:
            return
        end = _end_of_archive(file, start, size)
        try:
            root = open_archive(file, path, start, size if end is None else end).root
        except UnreadableFile:
            root = None
        tensor = root.tensor if isinstance(root, Parameter) else root
        if isinstance(tensor, StoredTensor) and tensor.size:
            yield tensor
        if end is None:
            return
        start = end


def _end_of_archive(file: Source, start: int, size: int) -> int | None:
    """Offset behind the archive that begins at ``start``; None where it does not end.

    Its pickle tells how many bytes follow at least, which need not be searched.
    """
    header = read_local_header(file, start)
    if header is None:
        return None
    try:
        storages, nbytes = with_enough(file, header.payload, size, named_and_length)
    except UnreadableFile:
        return None
    at = header.payload + nbytes + sum(storage.nbytes for storage in storages.values())
    found = read_at(file, at, _ROOM).find(_END)
    return at + found + _END_RECORD if found >= 0 else None
