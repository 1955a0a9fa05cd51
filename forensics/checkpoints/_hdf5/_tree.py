"""Lists the arrays of an HDF5 file by following its groups, without the HDF5 library.

What h5py writes by default is read here, with bounds of our own: the library trusts the file, and
can go round in circles on one that is cut off or filled with zeros.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from forensics.checkpoints._hdf5._arrays import described
from forensics.checkpoints._hdf5._attributes import texts
from forensics.checkpoints._hdf5._bytes import Bytes
from forensics.checkpoints._hdf5._groups import is_group, members
from forensics.checkpoints._hdf5._headers import messages, read_superblock
from forensics.checkpoints._reading import Source
from forensics.errors import UnreadableFile

MAX_ARRAYS = 200_000
_MAX_DEPTH = 40
_FAULTS = (UnreadableFile, struct.error, IndexError)


@dataclass(frozen=True)
class Array:
    """One array of an HDF5 file."""

    path: str
    """Within the file, ``model_weights/dense/kernel``."""
    shape: tuple[int, ...]
    dtype: str
    """numpy's code, ``<f4``."""
    offset: int | None
    """Of its bytes, from the start of the HDF5 file; None where they are not in one piece."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Attributes of the group it lies in, as far as they are text."""


@dataclass(frozen=True)
class Contents:
    """What is in an HDF5 file."""

    arrays: tuple[Array, ...]
    """In the order in which they were written, as far as that shows."""
    texts: Mapping[str, str]
    """Attributes of the file that are text."""
    faults: tuple[str, ...] = ()
    """Why parts of the tree could not be read."""
    cut: bool = False
    """True where the file is shorter than it says."""


def list_arrays(file: Source, start: int, nbytes: int) -> Contents:
    """The arrays of the HDF5 file in a range of a file.

    Raises:
        UnreadableFile: Not even its beginning can be read.
    """
    source = Bytes(file, start, nbytes)
    superblock = read_superblock(source)
    walk = _Walk(source)
    found = walk.group("", superblock.root, 0)
    arrays = sorted(found, key=lambda a: (a.offset is None, a.offset or 0))
    cut = superblock.end > nbytes
    if not arrays and walk.faults:
        raise UnreadableFile(walk.faults[0])
    return Contents(tuple(arrays), walk.root_texts, tuple(walk.faults), cut)


@dataclass(eq=False)
class _Walk:
    """Follows groups; each is entered once."""

    source: Bytes
    faults: list[str] = field(default_factory=list)
    root_texts: Mapping[str, str] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    count: int = 0

    def group(self, path: str, address: int, depth: int) -> Iterator[Array]:
        """The arrays of a group and below; faults are kept, and what comes before them."""
        if address in self.seen or depth > _MAX_DEPTH:
            return
        self.seen.add(address)
        try:
            found = list(messages(self.source, address))
            own = texts(self.source, found)
            if not path:
                self.root_texts = own
            for name, member in members(self.source, found):
                yield from self._member(f"{path}/{name}" if path else name, member, own, depth)
        except _FAULTS as error:
            self.faults.append(_told(error))

    def _member(
        self, path: str, address: int, around: Mapping[str, str], depth: int
    ) -> Iterator[Array]:
        try:
            found = list(messages(self.source, address))
            array = described(found)
        except _FAULTS as error:
            self.faults.append(_told(error))
            return
        if array is not None and self.count < MAX_ARRAYS:
            self.count += 1
            yield Array(path, array.shape, array.dtype, array.offset, around)
        elif is_group(found):
            yield from self.group(path, address, depth + 1)


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, UnreadableFile) else "damaged HDF5 file"
