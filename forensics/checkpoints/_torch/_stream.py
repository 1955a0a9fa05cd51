"""What torch wrote before 1.6, and still does on request: five pickles, then the storages."""

import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

from forensics.checkpoints._reading import Source, read_at, size_of
from forensics.checkpoints._torch._archive import TorchFile
from forensics.checkpoints._torch._pickle import (
    StorageId,
    read_object,
    storages_named_in,
    with_enough,
)
from forensics.checkpoints._views import Storage
from forensics.errors import UnreadableFile
from forensics.inert_pickle import load


@dataclass(frozen=True, eq=False)
class _Pickles:
    """What stands before the storages."""

    start: int
    """Offset of the object's pickle."""
    end: int
    """Offset of the first storage."""
    named: dict[str, StorageId]
    keys: Any
    """Keys of the storages, in the order of the file."""
    swapped: bool
    object: BinaryIO


def open_stream(file: Source, path: str) -> TorchFile:
    """Read the object of a torch file of the old kind.

    Raises:
        UnreadableFile: It is cut off within its pickles.
    """
    size = size_of(file)
    pickles = with_enough(file, 0, size, _read_pickles)
    places, whole = _places(file, pickles, size)

    def locate(wanted: StorageId) -> Storage:
        offset, there = places.get(wanted.key, (size, 0))
        why = "" if there else "lies beyond the end of the file"
        nbytes = min(there, wanted.nbytes)
        return Storage(path, offset, nbytes, wanted.nbytes, why, swapped=pickles.swapped)

    pickles.object.seek(pickles.start)
    root = read_object(pickles.object, locate)
    notes = () if whole else ("is cut off; the complete tensors are read",)
    return TorchFile(root, notes, tuple(places.values()))


def _read_pickles(stream: BinaryIO) -> _Pickles:
    load(stream, max_operations=10)
    load(stream, max_operations=10)
    system = load(stream, max_operations=1000)
    start = stream.tell()
    named = storages_named_in(stream)
    keys = load(stream)
    swapped = isinstance(system, dict) and system.get("little_endian") is False
    return _Pickles(start, stream.tell(), named, keys, swapped, stream)


def _places(file: Source, pickles: _Pickles, size: int) -> tuple[dict[str, tuple[int, int]], bool]:
    """(offset, bytes that are there) of each storage, and whether all of them are."""
    places: dict[str, tuple[int, int]] = {}
    at = pickles.end
    for key in pickles.keys if isinstance(pickles.keys, list) else []:
        storage = pickles.named.get(str(key))
        raw = read_at(file, at, 8)
        if storage is None or len(raw) < 8:
            return places, False
        (numel,) = struct.unpack(">q" if pickles.swapped else "<q", raw)
        if numel < 0:
            raise UnreadableFile("a storage claims a negative size")
        nbytes = numel * storage.itemsize
        places[storage.key] = (at + 8, max(0, min(nbytes, size - at - 8)))
        at += 8 + nbytes
    return places, at <= size
