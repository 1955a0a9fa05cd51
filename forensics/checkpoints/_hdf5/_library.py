"""What only the HDF5 library reads: arrays in chunks, compressed ones, and newer layouts."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from forensics.checkpoints._base import Extent
from forensics.checkpoints._hdf5._tree import MAX_ARRAYS, Array, Contents
from forensics.checkpoints._reading import Source, Window
from forensics.errors import UnreadableFile

_FAULTS = (OSError, RuntimeError, ValueError, LookupError, AttributeError, TypeError)
_MAX_DEPTH = 40
NEEDS_H5PY = "is read with h5py, which is not installed: pip install 'run-forensics[keras]'"


def is_available() -> bool:
    """True where h5py is installed."""
    return importlib.util.find_spec("h5py") is not None


def list_by_library(file: Source, start: int, nbytes: int) -> Contents:
    """The arrays of a file in a newer layout.

    Raises:
        UnreadableFile: It is damaged, or h5py is not installed.
    """
    with opened(file, start, nbytes) as hdf5:
        try:
            arrays = [array for array, _ in zip(_walk(hdf5), range(MAX_ARRAYS), strict=False)]
            return Contents(tuple(arrays), _texts(hdf5))
        except _FAULTS as error:
            raise UnreadableFile(f"damaged HDF5 file ({_short(error)})") from error


def values_of(file: Source, extent: Extent, path: str, chunk: int) -> Iterator[bytes]:
    """The values of one array, row by row, as little-endian bytes.

    Raises:
        UnreadableFile: See `list_by_library`.
    """
    with opened(file, extent.offset, extent.nbytes) as hdf5:
        try:
            array = hdf5[path]
            rows = array.shape[0] if array.shape else 1
            step = max(1, chunk // max(1, array.nbytes // max(1, rows)))
            for first in range(0, rows, step):
                part = array[first : first + step] if array.shape else array[()]
                yield np.asarray(part).astype(array.dtype.newbyteorder("<")).tobytes()
        except _FAULTS as error:
            raise UnreadableFile(f"damaged HDF5 file ({_short(error)})") from error


@contextmanager
def opened(file: Source, start: int, nbytes: int) -> Iterator[Any]:
    """The file as h5py shows it.

    Raises:
        UnreadableFile: See `list_by_library`.
    """
    if not is_available():
        raise UnreadableFile(NEEDS_H5PY)
    import h5py  # optional, and slow to import

    try:
        hdf5 = h5py.File(Window(file, start, nbytes), "r")
    except _FAULTS as error:
        raise UnreadableFile(f"damaged HDF5 file ({_short(error)})") from error
    with hdf5:
        yield hdf5


def _walk(group: Any, depth: int = 0) -> Iterator[Array]:
    """Arrays of a group and below; links to other files are not followed."""
    from h5py import Dataset, Group, HardLink

    for name in group:
        linked = isinstance(group.get(name, getlink=True), HardLink)
        item = group[name] if linked else None
        if isinstance(item, Dataset):
            plain = item.chunks is None and not item.external
            yield Array(
                item.name.strip("/"),
                tuple(int(length) for length in item.shape or ()),
                item.dtype.str,
                item.id.get_offset() if plain else None,
                _texts(group),
            )
        elif isinstance(item, Group) and depth < _MAX_DEPTH:
            yield from _walk(item, depth + 1)


def _texts(group: Any) -> dict[str, str]:
    return {str(key): str(v) for key, v in group.attrs.items() if isinstance(v, str)}


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120]
