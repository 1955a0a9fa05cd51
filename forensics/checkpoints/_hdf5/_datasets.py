"""Where the arrays of an HDF5 file lie, by h5py; values are read by offset wherever they can."""

import importlib.util
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forensics.checkpoints._base import Extent
from forensics.checkpoints._reading import Source, Window, read_at
from forensics.errors import UnreadableFile

MAGIC = b"\x89HDF\r\n\x1a\n"
MAX_ARRAYS = 200_000
_MAX_DEPTH = 40
_MAX_SIZE = 1 << 50
NEEDS_H5PY = "is read with h5py, which is not installed: pip install 'run-forensics[keras]'"


@dataclass(frozen=True)
class Array:
    """One array of an HDF5 file."""

    path: str
    """Within the file, ``model_weights/dense/kernel``."""
    shape: tuple[int, ...]
    dtype: str
    """numpy's code, ``<f4``."""
    offset: int | None
    """Of its bytes, from the start of the HDF5 file; None where they are chunked or compressed."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Attributes of the group it lies in, as far as they are text."""


@dataclass(frozen=True)
class Contents:
    """What is in an HDF5 file."""

    arrays: tuple[Array, ...]
    """In the order in which they were written, as far as that shows."""
    texts: Mapping[str, str]
    """Attributes of the file that are text."""
    damaged: bool
    """True where a part of the tree could not be read."""
    cut: bool
    """True where the file is shorter than it says."""


def is_available() -> bool:
    """True where h5py is installed."""
    return importlib.util.find_spec("h5py") is not None


def list_arrays(file: Source, start: int, nbytes: int) -> Contents:
    """The arrays of the HDF5 file in a range of a file.

    Raises:
        UnreadableFile: Nothing of it could be read.
    """
    found: list[Array] = []
    faults: list[Exception] = []
    with _opened(file, start, nbytes) as hdf5:
        texts = _texts(hdf5)
        for array in _walk(hdf5, faults):
            found.append(array)
            if len(found) == MAX_ARRAYS:
                break
    if not found and faults:
        raise UnreadableFile(f"damaged HDF5 file ({_short(faults[0])})") from faults[0]
    found.sort(key=lambda array: array.offset is None or array.offset)
    cut = _declared_size(file, start, nbytes) > nbytes
    return Contents(tuple(found), texts, bool(faults), cut)


def values_of(file: Source, extent: Extent, path: str, chunk: int) -> Iterator[bytes]:
    """The values of one array, row by row, as little-endian bytes.

    Raises:
        UnreadableFile: The file is damaged.
    """
    with _opened(file, extent.offset, extent.nbytes) as hdf5:
        try:
            array = hdf5[path]
            rows = array.shape[0] if array.shape else 1
            step = max(1, chunk // max(1, array.nbytes // max(1, rows)))
            for first in range(0, rows, step):
                part = array[first : first + step] if array.shape else array[()]
                yield np.asarray(part).astype(array.dtype.newbyteorder("<")).tobytes()
        except (OSError, RuntimeError, ValueError, LookupError, AttributeError) as error:
            raise UnreadableFile(f"damaged HDF5 file ({_short(error)})") from error


@contextmanager
def _opened(file: Source, start: int, nbytes: int) -> Iterator[Any]:
    import h5py  # optional, and slow to import

    size = min(max(nbytes, _declared_size(file, start, nbytes)), _MAX_SIZE)
    try:
        hdf5 = h5py.File(Window(file, start, size), "r")
    except (OSError, RuntimeError, ValueError) as error:
        raise UnreadableFile(f"damaged HDF5 file ({_short(error)})") from error
    with hdf5:
        yield hdf5


def _declared_size(file: Source, start: int, nbytes: int) -> int:
    """The size that the superblock gives; a file that is cut off is read as if zeros followed."""
    block = read_at(file, start, min(nbytes, 48)).ljust(48, b"\0")
    version, wide = block[8], block[13] if block[8] < 2 else block[9]
    if wide != 8:
        return nbytes
    (end,) = struct.unpack_from("<Q", block, 40 if version < 2 else 28)
    return int(end)


def _walk(group: Any, faults: list[Exception], depth: int = 0) -> Iterator[Array]:
    """Arrays of a group and below; links to other files are not followed."""
    from h5py import Dataset, Group, HardLink

    try:
        names = list(group)
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        faults.append(error)
        return
    for name in names:
        try:
            linked = isinstance(group.get(name, getlink=True), HardLink)
            item = group[name] if linked else None
            array = _described(item) if isinstance(item, Dataset) else None
        except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
            faults.append(error)
            continue
        if array is not None:
            yield array
        elif isinstance(item, Group) and depth < _MAX_DEPTH:
            yield from _walk(item, faults, depth + 1)


def _described(dataset: Any) -> Array:
    plain = dataset.chunks is None and not dataset.external
    return Array(
        dataset.name.strip("/"),
        tuple(int(length) for length in dataset.shape or ()),
        dataset.dtype.str,
        dataset.id.get_offset() if plain else None,
        _texts(dataset.parent),
    )


def _texts(group: Any) -> dict[str, str]:
    try:
        return {str(key): str(v) for key, v in group.attrs.items() if isinstance(v, str)}
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        return {}


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120]
