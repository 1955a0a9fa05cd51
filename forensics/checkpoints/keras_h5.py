"""Keras' HDF5 files: ``.weights.h5`` of Keras 3, and the older ``.h5`` of a whole model."""

from pathlib import Path

from forensics.checkpoints._base import StoredTensor
from forensics.checkpoints._contents import Parts
from forensics.checkpoints._hdf5 import MAGIC, NEEDS_H5PY, is_available, list_arrays, tensors_of
from forensics.checkpoints._keras import optimizer_settings, parts_of
from forensics.checkpoints._piece import Piece, file_opener, notes_on
from forensics.checkpoints._reading import Source, address, head, open_regular, size_of
from forensics.errors import UnreadableFile

_DAMAGED = "is damaged in parts; what could be read is listed"
_CUT = "is cut off; the complete arrays are read"


def sniff(path: Path) -> bool:
    """The signature of HDF5."""
    return head(path, 8).startswith(MAGIC)


def read(path: Path) -> Piece:
    """List the arrays; their values are read by offset later.

    Raises:
        UnreadableFile: Nothing of it could be read.
    """
    with open_regular(path) as file:
        return read_range(path, file, 0, size_of(file), "")


def read_range(path: Path, file: Source, start: int, nbytes: int, config: str) -> Piece:
    """Read the HDF5 file in a range of a file.

    Args:
        path: The file.
        file: The same, open.
        start: Where the HDF5 file begins.
        nbytes: Its bytes.
        config: Keras' configuration in JSON, where it is kept outside.

    Raises:
        UnreadableFile: Nothing of it could be read.
    """
    if not is_available():
        return Piece("keras", Parts(), notes_on(path, (NEEDS_H5PY,)))
    try:
        contents = list_arrays(file, start, nbytes)
    except UnreadableFile as error:
        raise UnreadableFile(f"{path}: {error}") from error
    tensors: dict[str, StoredTensor] = tensors_of(contents.arrays, address(path), start, nbytes)
    settings = optimizer_settings(config or contents.texts.get("training_config", ""))
    remarks = [_CUT] if contents.cut else []
    remarks += [_DAMAGED] if contents.damaged else []
    parts = parts_of(contents.arrays, tensors, settings)
    return Piece("keras", parts, notes_on(path, tuple(remarks)))


OPENER = file_opener("keras", 20, sniff, read)
