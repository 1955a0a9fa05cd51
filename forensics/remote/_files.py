"""Reads a remote file by ranges: little at first, more where the reading goes on."""

import io
import os
from typing import Any

from forensics.remote._stores import answering, file_system

BLOCK = 1 << 23
"""Bytes asked for at a time: a request to a remote store takes long, however little it asks."""
HEADER = 1 << 16
"""Bytes asked for first where only a header may be wanted."""


class RemoteFile:
    """A remote file, read by ranges."""

    def __init__(self, address: str, least: int = BLOCK) -> None:
        """Look at its size.

        Args:
            address: Of the file.
            least: Bytes to ask for where reading begins or jumps; each request that goes on where
                the one before ended asks for twice as much, up to `BLOCK`.

        Raises:
            OSError: There is no such file, or it may not be read.
        """
        self._address, self._least, self._ask = address, least, least
        self._system = file_system(address)
        with answering(address):
            self.size = int(self._system.info(address).get("size") or 0)
        self._start, self._block = 0, b""

    def read_into(self, buffer: memoryview, offset: int) -> int:
        """Fill the buffer as far as the block at hand goes; 0 at the end of the file.

        Raises:
            OSError: The store does not give the bytes.
        """
        inside = offset - self._start
        if not 0 <= inside < len(self._block):
            self._fetch(offset, len(buffer))
            inside = 0
        piece = self._block[inside : inside + len(buffer)]
        buffer[: len(piece)] = piece
        return len(piece)

    def _fetch(self, offset: int, wanted: int) -> None:
        goes_on = bool(self._block) and offset == self._start + len(self._block)
        self._ask = min(2 * self._ask, BLOCK) if goes_on else self._least
        stop = min(offset + max(self._ask, min(wanted, BLOCK)), self.size)
        self._start, self._block = offset, b""
        if stop > offset:
            with answering(self._address):
                self._block = bytes(self._system.cat_file(self._address, start=offset, end=stop))

    def close(self) -> None:
        """Let go of the block."""
        self._block = b""


class RemoteRaw(io.RawIOBase):
    """The same as a file object of the standard library."""

    def __init__(self, address: str) -> None:
        self._file, self._at = RemoteFile(address, HEADER), 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """Any place can be read."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """See `io.IOBase.seek`."""
        bases = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._file.size}
        place = bases[whence] + offset
        if place < 0:
            raise OSError(22, "negative position")
        self._at = place
        return place

    def readinto(self, buffer: Any, /) -> int:
        """See `io.RawIOBase.readinto`."""
        count = self._file.read_into(memoryview(buffer).cast("B"), self._at)
        self._at += count
        return count

    def close(self) -> None:
        """See `io.IOBase.close`."""
        self._file.close()
        super().close()


def open_remotely(address: str) -> io.BufferedReader:
    """A remote file, open for reading bytes.

    Raises:
        OSError: There is no such file, or it may not be read.
    """
    return io.BufferedReader(RemoteRaw(address), HEADER)
