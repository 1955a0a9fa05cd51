"""Formats that are known by sight, but whose values are not read: said plainly, not called damage.

Orbax keeps arrays in OCDBT, TensorFlow in bundles, GGUF is an export for inference; NeMo's archives
hold torch files that must be unpacked first.
"""

from pathlib import Path

from forensics.checkpoints._base import Opened, Opener
from forensics.checkpoints._reading import head, open_regular, read_at, size_of
from forensics.errors import UnreadableFile
from forensics.found import Note

_TABLE_END = bytes.fromhex("57fb808b247547db")
"""Last bytes of LevelDB's tables, in which TensorFlow keeps its index."""
_ORBAX = ("_CHECKPOINT_METADATA", "_METADATA", "manifest.ocdbt")


def _kind(path: Path) -> str:
    if path.is_dir():
        orbax = any((path / name).exists() for name in _ORBAX)
        saved_model = (path / "saved_model.pb").is_file()
        return "Orbax" if orbax else "TensorFlow SavedModel" if saved_model else ""
    start = head(path, 512)
    if start.startswith(b"GGUF"):
        return "GGUF"
    if start[257:262] == b"ustar" or start.startswith(b"\x1f\x8b"):
        return "tar or gzip"
    if start.startswith(b"\x93NUMPY"):
        return "single array of numpy"
    return "TensorFlow" if _ends_as_a_table(path) else ""


def _ends_as_a_table(path: Path) -> bool:
    try:
        with open_regular(path) as file:
            return read_at(file, max(0, size_of(file) - 8), 8) == _TABLE_END
    except UnreadableFile:
        return False


def sniff(path: Path) -> bool:
    """One of the formats by its first or last bytes."""
    return bool(_kind(path))


def open_unread(path: Path) -> Opened:
    """A checkpoint without tensors, and a note."""
    kind = _kind(path)
    note = Note(f"is of the format {kind}, whose values are not read", str(path))
    return Opened(str(path), kind, (), notes=(note,))


OPENER = Opener("unread", 80, sniff, open_unread)
