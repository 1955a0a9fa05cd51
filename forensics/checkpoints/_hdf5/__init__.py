"""HDF5, as Keras writes it; needs the optional h5py."""

from forensics.checkpoints._hdf5._datasets import (
    MAGIC,
    NEEDS_H5PY,
    Array,
    Contents,
    is_available,
    list_arrays,
    values_of,
)
from forensics.checkpoints._hdf5._tensors import tensors_of

__all__ = [
    "MAGIC",
    "NEEDS_H5PY",
    "Array",
    "Contents",
    "is_available",
    "list_arrays",
    "tensors_of",
    "values_of",
]
