"""Where the datasets of an HDF5 file lie, by h5py; values are read by offset wherever they can."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forensics.checkpoints._base import Extent
from forensics.checkpoints._reading import Source, Window
from forensics.errors import UnreadableFile

MAGIC = b"\x89HDF\r\n\x1a\n"
MAX_DATASETS = 200_000
NEEDS_H5PY = "HDF5 is read with h5py, which is not installed: pip install 'run-forensics[keras]'"


@dataclass(frozen=True)
class Dataset:
    """One array of an HDF5 file."""

    path: str
    """Within the file, ``model_weights/dense/kernel``."""
    shape: tuple[int, ...]
    dtype: str
    """numpy's code, ``<f4``."""
    offset: int | None
    """Of its bytes; None where they are chunked, compressed, external or never written."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Those of the group it lies in."""


def is_hdf5(first: bytes) -> bool:
    """True for the first bytes of an HDF5 file."""
    return first.startswith(MAGIC)


def list_datasets(file: Source, start: int, nbytes: int) -> tuple[list[Dataset], dict[str, str]]:
    """The arrays of the HDF5 file in a range, and the text attributes of its root.

    Raises:
        UnreadableFile: It is damaged, or h5py is not installed.
    """
    found: list[Dataset] = []
    with _opened(file, start, nbytes) as hdf5:
        try:
            texts = {str(k): str(v) for k, v in hdf5.attrs.items() if isinstance(v, str)}
            for dataset in _walk(hdf5):
                found.append(_described(dataset))
                if len(found) == MAX_DATASETS:
                    break
        except Exception as error:  # h5py raises nearly anything on a damaged file
            if not found:
                raise UnreadableFile(f"damaged HDF5 file ({_short(error)})") from error
    return found, texts


def chunks_of_dataset(file: Source, extent: Extent, path: str, chunk: int) -> Iterator[bytes]:
    """The values of one array, row by row, as little-endian bytes.

    Raises:
        UnreadableFile: See `list_datasets`.
    """
    with _opened(file, extent.offset, extent.nbytes) as hdf5:
        try:
            dataset = hdf5[path]
            rows = dataset.shape[0] if dataset.shape else 1
            step = max(1, chunk // max(1, dataset.nbytes // max(1, rows)))
            for first in range(0, rows, step):
                part = dataset[first : first + step] if dataset.shape else dataset[()]
                yield np.asarray(part).astype(dataset.dtype.newbyteorder("<")).tobytes()
        except Exception as error:  # h5py raises nearly anything on a damaged file
            raise UnreadableFile(f"damaged HDF5 file ({_short(error)})") from error


def _opened(file: Source, start: int, nbytes: int) -> Any:
    try:
        import h5py  # optional, and slow to import
    except ImportError as error:
        raise UnreadableFile(NEEDS_H5PY) from error
    try:
        return h5py.File(Window(file, start, nbytes), "r")
    except (OSError, RuntimeError, ValueError) as error:
        raise UnreadableFile(f"damaged HDF5 file ({_short(error)})") from error


def _walk(group: Any, depth: int = 0) -> Iterator[Any]:
    """Arrays of a group and below, in natural order; links to other files are not followed."""
    from h5py import Dataset as Array
    from h5py import Group, HardLink

    for name in sorted(group, key=lambda text: (not text.isdecimal(), _number(text), text)):
        if not isinstance(group.get(name, getlink=True), HardLink):
            continue
        item = group[name]
        if isinstance(item, Array):
            yield item
        elif isinstance(item, Group) and depth < 40:
            yield from _walk(item, depth + 1)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _described(dataset: Any) -> Dataset:
    stored = dataset.chunks is None and not dataset.external
    return Dataset(
        dataset.name.strip("/"),
        tuple(int(length) for length in dataset.shape or ()),
        dataset.dtype.str,
        dataset.id.get_offset() if stored else None,
        {str(k): v for k, v in dataset.parent.attrs.items() if isinstance(v, str)},
    )


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120]
