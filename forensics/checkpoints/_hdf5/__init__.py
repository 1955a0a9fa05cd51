"""HDF5, as Keras writes it: read without the HDF5 library wherever that is possible."""

from forensics.checkpoints._hdf5._library import (
    NEEDS_H5PY,
    is_available,
    list_by_library,
    values_of,
)
from forensics.checkpoints._hdf5._tensors import tensors_of
from forensics.checkpoints._hdf5._tree import Array, Contents, list_arrays

MAGIC = b"\x89HDF\r\n\x1a\n"

__all__ = [
    "MAGIC",
    "NEEDS_H5PY",
    "Array",
    "Contents",
    "is_available",
    "list_arrays",
    "list_by_library",
    "tensors_of",
    "values_of",
]
