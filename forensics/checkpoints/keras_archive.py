"""Keras 3's ``.keras``: a zip with the configuration and, uncompressed, the weights in HDF5."""

from dataclasses import replace
from pathlib import Path

from forensics.checkpoints import _zip, keras_h5
from forensics.checkpoints._piece import Piece, file_opener, notes_on
from forensics.checkpoints._reading import open_regular, size_of
from forensics.checkpoints._zip import first_name
from forensics.errors import UnreadableFile

_WEIGHTS, _CONFIG = "model.weights.h5", "config.json"
_MAX_CONFIG = 16 << 20


def sniff(path: Path) -> bool:
    """A zip that begins with one of Keras' entries."""
    return first_name(path) in ("metadata.json", _CONFIG, _WEIGHTS)


def read(path: Path) -> Piece:
    """Read the weights where they lie in the zip.

    Raises:
        UnreadableFile: The weights are not in it, or compressed.
    """
    with open_regular(path) as file:
        archive = _zip.read_archive(file)
        members = {m.name: m for m in archive.members}
        weights, config = members.get(_WEIGHTS), members.get(_CONFIG)
        if weights is None:
            raise UnreadableFile(f"{path}: holds no {_WEIGHTS}: it is cut off before the weights")
        if weights.method != _zip.STORED:
            raise UnreadableFile(f"{path}: its weights are compressed; unpack it to read them")
        text = _zip.inflate(file, config, _MAX_CONFIG).decode("utf-8", "replace") if config else ""
        nbytes = min(weights.nbytes, size_of(file) - weights.offset)
        piece = keras_h5.read_range(path, file, weights.offset, nbytes, text)
    if archive.whole or piece.notes:
        return piece
    return replace(piece, notes=notes_on(path, ("is cut off behind the weights",)))


OPENER = file_opener("keras", 15, sniff, read)
