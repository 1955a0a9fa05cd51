"""HDF5, as Keras writes it; needs the optional h5py."""

from forensics.checkpoints._hdf5._datasets import (
    Dataset,
    chunks_of_dataset,
    is_hdf5,
    list_datasets,
)

__all__ = ["Dataset", "chunks_of_dataset", "is_hdf5", "list_datasets"]
