"""Finds the bytes of chunks in the shard files: each chunk is a small file of ``torch.save``.

A large job leaves a hundred thousand of them, so the usual layout is looked up in the first bytes
of a chunk; a zip that is laid out otherwise is read as any other.
"""

import math
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from forensics.checkpoints._base import Extent, Parameter, Role, StoredTensor
from forensics.checkpoints._dcp._metadata import Chunk, Place, Sharded
from forensics.checkpoints._reading import address, open_regular, read_at, size_of
from forensics.checkpoints._torch import open_archive
from forensics.errors import UnreadableFile

_HEAD = 4096
_ZIP, _RECORD = b"PK\x03\x04", b"PK\x07\x08"
_NARROW = 0xFFFFFFFF
"""Largest size that the record behind an entry gives in four bytes."""
_FIRST_STORAGE = b"archive/data/0"
_MAX_OBJECT = 16 << 20


@dataclass(frozen=True, eq=False)
class Shards:
    """The shard files of a folder, each opened once."""

    folder: Path
    stack: ExitStack
    files: dict[str, BinaryIO | None] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    """Files that are named but not there."""
    short: set[str] = field(default_factory=set)
    """Files that end before the last place in them."""

    @classmethod
    @contextmanager
    def of(cls, folder: Path) -> "Iterator[Shards]":
        """Open the shards of a folder for as long as the context lasts."""
        with ExitStack() as stack:
            yield cls(folder, stack)

    def tensor(self, name: str, sharded: Sharded) -> StoredTensor:
        """The tensor over all its chunks, in the order of their offsets.

        That is the element order where the tensor was split by rows, as nearly all are.
        """
        extents: list[Extent] = []
        faults: list[str] = []
        for chunk in sharded.chunks:
            found = self._chunk(chunk, sharded)
            if isinstance(found, Extent):
                extents.append(found)
            else:
                faults.append(found)
        wanted = math.prod(sharded.shape)
        listed = sum(math.prod(chunk.shape) for chunk in sharded.chunks)
        missing = faults[0] if faults else ""
        if listed != wanted and not missing:
            missing = f"its chunks hold {listed:,} of its {wanted:,} elements"
        label = f"{self.folder}#{name}" if extents else ""
        filled = tuple(extent for extent in extents if extent.nbytes)
        return StoredTensor(
            "", Role.OTHER, sharded.dtype, sharded.shape, filled, label, missing=missing
        )

    def object(self, place: Place) -> Any:
        """An object that was pickled among the tensors.

        Raises:
            UnreadableFile: It is not there, or too large for what is kept so.
        """
        file = self._at(place)
        if file is None or place.nbytes > _MAX_OBJECT:
            raise UnreadableFile(f"{place.file} is missing" if file is None else "too large")
        end = min(place.offset + place.nbytes, self.sizes[place.file])
        return open_archive(file, address(self._path(place.file)), place.offset, end).root

    def _chunk(self, chunk: Chunk, sharded: Sharded) -> Extent | str:
        """The bytes of a chunk, or why there are none."""
        place = chunk.place
        if place is None:
            return "one of its chunks was never written"
        if place.transformed:
            return "stored by an extension that is not read"
        file = self._at(place)
        if file is None:
            return f"{place.file} is missing"
        path = address(self._path(place.file))
        nbytes = math.prod(chunk.shape) * sharded.itemsize
        if not nbytes:
            return Extent(path, place.offset, 0)
        offset = _payload(file, place, nbytes)
        if offset is None:
            return self._unusual(file, path, place, nbytes)
        if offset + nbytes > self.sizes[place.file]:
            return f"{place.file} is cut off"
        return Extent(path, offset, nbytes)

    def _unusual(self, file: BinaryIO, path: str, place: Place, nbytes: int) -> Extent | str:
        """A chunk in a zip of another layout, or damaged."""
        if place.offset + place.nbytes > self.sizes[place.file]:
            return f"{place.file} is cut off"
        try:
            root = open_archive(file, path, place.offset, place.offset + place.nbytes).root
        except UnreadableFile as error:
            return f"a chunk in {place.file} is damaged ({error})"
        tensor = root.tensor if isinstance(root, Parameter) else root
        plain = isinstance(tensor, StoredTensor) and not (tensor.missing or tensor.decoder)
        if plain and [extent.nbytes for extent in tensor.extents] == [nbytes]:
            return tensor.extents[0]
        return f"a chunk in {place.file} is not what it is said to be"

    def _file(self, name: str) -> BinaryIO | None:
        if name not in self.files:
            self.files[name] = None
            try:
                file = self.stack.enter_context(open_regular(self._path(name)))
            except UnreadableFile:
                self.lost.add(name)
            else:
                self.files[name], self.sizes[name] = file, size_of(file)
        return self.files[name]

    def _at(self, place: Place) -> BinaryIO | None:
        """The open file of a place; None where it is not there."""
        file = self._file(place.file)
        if file is not None and place.offset + place.nbytes > self.sizes[place.file]:
            self.short.add(place.file)
        return file

    def _path(self, name: str) -> Path:
        """A file of the folder.

        Raises:
            UnreadableFile: The name leads outside.
        """
        parts = PurePosixPath(name)
        if not name or parts.is_absolute() or ".." in parts.parts:
            raise UnreadableFile(f"{name[:80]} leads outside of the checkpoint")
        return self.folder / name


def _payload(file: BinaryIO, place: Place, nbytes: int) -> int | None:
    """Offset of a chunk's bytes, where it is laid out as usual; else None."""
    if place.nbytes == nbytes:
        head = read_at(file, place.offset, len(_ZIP))
        return None if head == _ZIP and nbytes > 200 else place.offset  # raw
    head = read_at(file, place.offset, min(place.nbytes, _HEAD))
    at = head.find(_FIRST_STORAGE) - 30
    if at < 0 or not head.startswith(_ZIP) or head[at : at + 4] != _ZIP:
        return None
    name_length, extra_length = struct.unpack_from("<HH", head, at + 26)
    start = int(place.offset + at + 30 + name_length + extra_length)
    behind = read_at(file, start + nbytes, 24)
    told = behind[8 : 8 + (8 if nbytes > _NARROW else 4)]
    fits = behind.startswith(_RECORD) and int.from_bytes(told, "little") == nbytes
    return start if fits else None
