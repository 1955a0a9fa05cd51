"""HDF5, as Keras writes it: read without the HDF5 library wherever that is possible."""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.checkpoints._hdf5._library import NEEDS_H5PY as NEEDS_H5PY
    from forensics.checkpoints._hdf5._library import is_available as is_available
    from forensics.checkpoints._hdf5._library import list_by_library as list_by_library
    from forensics.checkpoints._hdf5._library import values_of as values_of
    from forensics.checkpoints._hdf5._tensors import tensors_of as tensors_of
    from forensics.checkpoints._hdf5._tree import Array as Array
    from forensics.checkpoints._hdf5._tree import Contents as Contents
    from forensics.checkpoints._hdf5._tree import list_arrays as list_arrays

MAGIC = b"\x89HDF\r\n\x1a\n"

__getattr__ = on_use(
    __name__,
    {
        "_library": ("NEEDS_H5PY", "is_available", "list_by_library", "values_of"),
        "_tensors": ("tensors_of",),
        "_tree": ("Array", "Contents", "list_arrays"),
    },
)
