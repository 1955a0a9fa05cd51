"""Keras' HDF5 files: ``.weights.h5`` of Keras 3, and the older ``.h5`` of a whole model."""

from pathlib import Path

from forensics.checkpoints import _hdf5, _keras
from forensics.checkpoints._piece import Piece, file_opener, notes_on
from forensics.checkpoints._reading import Source, address, head, open_regular, size_of
from forensics.errors import UnreadableFile

_DAMAGED = "is damaged in parts; what could be read is listed"
_CUT = "is cut off; the complete arrays are read"


def sniff(path: Path) -> bool:
    """The signature of HDF5."""
    return head(path, 8).startswith(_hdf5.MAGIC)


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
    contents, remarks = _listed(path, file, start, nbytes)
    tensors = _hdf5.tensors_of(contents.arrays, address(path), start, nbytes, cut=contents.cut)
    settings = _keras.optimizer_settings(config or contents.texts.get("training_config", ""))
    whole = not (contents.cut or contents.faults)
    parts = _keras.parts_of(contents.arrays, tensors, settings, whole=whole)
    return Piece("keras", parts, notes_on(path, tuple(remarks)))


def _listed(
    path: Path, file: Source, start: int, nbytes: int
) -> "tuple[_hdf5.Contents, list[str]]":
    """What is in the file, and remarks on it.

    Raises:
        UnreadableFile: Nothing of it could be read.
    """
    try:
        contents = _hdf5.list_arrays(file, start, nbytes)
        faults = contents.faults
    except UnreadableFile as error:
        contents, faults = None, (str(error),)
    cut = contents is not None and contents.cut
    if faults and not cut and _hdf5.is_available():
        try:
            return _hdf5.list_by_library(file, start, nbytes), []
        except UnreadableFile as error:
            faults = (str(error),)
    if contents is None:
        raise UnreadableFile(f"{path}: {faults[0]}")
    remarks = [_CUT] if cut else []
    remarks += [_DAMAGED] if faults and not cut else []
    packed = any(array.offset is None for array in contents.arrays)
    return contents, remarks + (
        [f"in parts {_hdf5.NEEDS_H5PY}"] if packed and not _hdf5.is_available() else []
    )


OPENER = file_opener("keras", 20, sniff, read)
