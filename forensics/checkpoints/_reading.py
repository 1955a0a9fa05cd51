"""Reads small parts of files that may be hostile: never a pipe, never more than was asked for."""

import io
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Protocol

from forensics.errors import UnreadableFile


class Source(Protocol):
    """A file as far as it is needed here: a local one, or one of a remote file system."""

    def seek(self, offset: int, whence: int = 0, /) -> int: ...

    def read(self, size: int = -1, /) -> bytes: ...


def address(path: Path) -> str:
    """Absolute path of a file, as an `Extent` wants it."""
    return str(path.absolute())


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading.

    Raises:
        UnreadableFile: It is a folder, a pipe or a device, or may not be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for ever
            raise UnreadableFile(f"{path}: is not a file")
        return path.open("rb")
    except OSError as error:
        raise UnreadableFile(f"{path}: {reason(error)}") from error


def reason(error: OSError) -> str:
    """What went wrong, in the system's words."""
    return (error.strerror or str(error)).lower()


def size_of(file: Source) -> int:
    """Bytes in an open file."""
    return file.seek(0, os.SEEK_END)


def read_at(file: Source, offset: int, nbytes: int) -> bytes:
    """Read a range; shorter where the file ends."""
    file.seek(offset)
    return file.read(max(0, nbytes))


def head(path: Path, nbytes: int = 512) -> bytes:
    """First bytes of a file; b'' where there is none to read."""
    try:
        with open_regular(path) as file:
            return file.read(max(0, nbytes))
    except (UnreadableFile, OSError):
        return b""


def read_small(path: Path, limit: int) -> bytes:
    """Read a whole file.

    Raises:
        UnreadableFile: It cannot be read, or is longer than ``limit``.
    """
    with open_regular(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UnreadableFile(f"{path}: longer than the {limit:,} bytes that such a file may have")
    return data


def is_blank(file: Source, ranges: Iterable[tuple[int, int]], looks: int = 64) -> bool:
    """True where samples from all over the ranges hold nothing but zeros.

    Args:
        file: Where to look.
        ranges: (offset, bytes) of the bodies, in order.
        looks: Number of places; 4 KiB are read at each.
    """
    bodies = [(start, length) for start, length in ranges if length]
    total = sum(length for _, length in bodies)
    places = [total * look // looks for look in range(looks)]
    before = 0
    for start, length in bodies:
        while places and places[0] < before + length:
            inside = places.pop(0) - before
            if read_at(file, start + inside, min(4096, length - inside)).strip(b"\0"):
                return False
        before += length
    return bool(bodies)


class Window:
    """A range of a file that reads like a file of its own: an HDF5 file inside a zip."""

    def __init__(self, file: Source, start: int, length: int) -> None:
        self._file, self._start, self._length, self._at = file, start, length, 0

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """See `io.IOBase.seek`."""
        bases = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._length}
        self._at = max(0, bases[whence] + offset)
        return self._at

    def tell(self) -> int:
        """See `io.IOBase.tell`."""
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        """See `io.BufferedIOBase.read`."""
        left = max(0, self._length - self._at)
        wanted = left if size < 0 else min(size, left)
        data = read_at(self._file, self._start + self._at, wanted)
        self._at += len(data)
        return data

    def readinto(self, buffer: memoryview, /) -> int:
        """See `io.RawIOBase.readinto`."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def in_memory(data: bytes) -> BinaryIO:
    """The bytes as a file."""
    return io.BytesIO(data)
