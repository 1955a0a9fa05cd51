"""Arrays of an HDF5 file as tensors: byte ranges, or a decoder where they are chunked."""

from collections.abc import Sequence
from dataclasses import replace

from forensics.checkpoints._base import Extent, StoredTensor
from forensics.checkpoints._dtypes import of_numpy
from forensics.checkpoints._hdf5._library import NEEDS_H5PY, is_available
from forensics.checkpoints._hdf5._tree import Array
from forensics.checkpoints._views import Storage, is_possible, tensor_of, unread


def tensors_of(
    arrays: Sequence[Array], path: str, start: int, nbytes: int, *, cut: bool
) -> dict[str, StoredTensor]:
    """Path in the HDF5 file -> tensor, without name and role.

    Args:
        arrays: As listed.
        path: Address of the file that holds the HDF5 file.
        start: Where in it the HDF5 file begins.
        nbytes: Its bytes that are there.
        cut: True where that is not all of them.
    """
    unreadable = "cannot be read from a file that is cut off" if cut else ""
    if not is_available():
        unreadable = NEEDS_H5PY
    return {array.path: _tensor(array, path, start, nbytes, unreadable) for array in arrays}


def _tensor(array: Array, path: str, start: int, nbytes: int, unreadable: str) -> StoredTensor:
    """One array; ``unreadable`` says why the library cannot spell it out, if it cannot."""
    dtype, itemsize, swapped = of_numpy(array.dtype)
    if not is_possible(array.shape, itemsize):
        return unread(dtype, (), "impossible shape")
    if array.offset is None and unreadable:
        return unread(dtype, array.shape, unreadable)
    if array.offset is None:
        whole = (Extent(path, start, nbytes),)
        label = f"{path}@{start}/{array.path}"
        return replace(
            unread(dtype, array.shape, ""),
            extents=whole,
            storage=label,
            decoder=f"hdf5:{array.path}",
        )
    wanted = unread(dtype, array.shape, "").size * itemsize
    there = max(0, min(wanted, nbytes - array.offset))
    storage = Storage(path, start + array.offset, there, wanted, swapped=swapped)
    return tensor_of(storage, dtype, itemsize, array.shape)
