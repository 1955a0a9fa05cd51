"""Reads any file of a save that stands for itself, and says of what kind it is."""

from collections.abc import Callable, Iterator
from pathlib import Path

from forensics.checkpoints import (
    flax_msgpack,
    keras_archive,
    keras_h5,
    numpy_npz,
    safetensors_ckpt,
    torch_legacy,
    torch_zip,
)
from forensics.checkpoints._contents import Parts
from forensics.checkpoints._piece import Piece, Read
from forensics.checkpoints._reading import head
from forensics.errors import UnreadableFile
from forensics.found import Note
from forensics.natural_order import natural_key

_FORMATS: tuple[tuple[Callable[[Path], bool], Read], ...] = (
    (torch_zip.sniff, torch_zip.read),
    (torch_legacy.sniff, torch_legacy.read),
    (safetensors_ckpt.sniff, safetensors_ckpt.read),
    (keras_archive.sniff, keras_archive.read),
    (keras_h5.sniff, keras_h5.read),
    (numpy_npz.sniff, numpy_npz.read),
    (flax_msgpack.sniff, flax_msgpack.read),
)
_NO_PART_OF_A_SAVE = ("training_args", "rng_state", "random_states", "tokenizer", "sampler")
"""Beginnings of names of files that hold no weights, and are read elsewhere or not at all."""
_SUFFIXES = (".safetensors", ".pt", ".pth", ".ckpt", ".bin", ".h5", ".keras", ".npz", ".tar")
"""Files under these names are expected to be readable, and noted where they are not."""
_MAX_FILES = 10_000


def is_single(path: Path) -> bool:
    """True for a file of a known format."""
    return any(sniff(path) for sniff, _ in _FORMATS)


def read_single(path: Path) -> Piece:
    """Read one file.

    Raises:
        UnreadableFile: It is of no known format, or damaged from its beginning.
    """
    for sniff, read in _FORMATS:
        if sniff(path):
            return read(path)
    start = head(path, 4096)
    if not start.strip(b"\0"):
        raise UnreadableFile(f"{path}: {'begins with zeros' if start else 'is empty'}")
    raise UnreadableFile(f"{path}: is of no known format, or its beginning is lost")


def read_or_note(path: Path) -> Piece:
    """Read one file of many; where that fails, a piece that holds a note alone."""
    try:
        return read_single(path)
    except (UnreadableFile, OSError) as error:
        text = str(error).removeprefix(f"{path}: ")
        return Piece("", Parts(), (Note(text, str(path)),))


def companions(folder: Path) -> Iterator[Piece]:
    """The files of a folder that stand for themselves, such as ``common.pt`` beside shards."""
    for path in files_of(folder):
        if not path.name.endswith(".distcp") and is_part_of_a_save(path):
            yield read_or_note(path)


def is_part_of_a_save(path: Path) -> bool:
    """True for a file of weights or of training state, by its bytes; or by name, if damaged."""
    if path.name.startswith(_NO_PART_OF_A_SAVE):
        return False
    return is_single(path) or path.name.endswith(_SUFFIXES)


def files_of(folder: Path) -> list[Path]:
    """Regular files of a folder, in natural order of their names."""
    found = [path for path in folder.iterdir() if path.is_file()]
    return sorted(found, key=lambda path: natural_key(path.name))[:_MAX_FILES]
