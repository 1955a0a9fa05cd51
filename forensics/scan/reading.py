"""Reads ranges of files into one buffer that each thread keeps: memory does not grow with files.

A range is read rather than mapped: a mapped file that shrinks kills the process that looks at it.
"""

import errno
import io
import math
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Protocol

import numpy as np

from forensics import remote
from forensics.checkpoints import Extent
from forensics.remote import is_remote
from forensics.scan.element_types import Bytes

CHUNK = 1 << 19
"""Bytes: small enough for the second-level cache, large enough to make calls cheap."""
_ZEROS = memoryview(bytes(CHUNK))


class EndedEarlyError(Exception):
    """A file holds less than it did when its header was read."""


class _File(Protocol):
    def read_into(self, buffer: memoryview, offset: int) -> int: ...

    def close(self) -> None: ...


class _LocalFile:
    """A local file; opening a pipe does not wait for somebody to write into it."""

    def __init__(self, path: str) -> None:
        self._file = io.FileIO(path, opener=_without_waiting)
        found = os.fstat(self._file.fileno())
        self._sparse = getattr(found, "st_blocks", math.inf) * 512 < found.st_size

    def read_into(self, buffer: memoryview, offset: int) -> int:
        if self._sparse and (hole := self._hole(offset, len(buffer))):
            buffer[:hole] = _ZEROS[:hole]
            return hole
        self._file.seek(offset)
        return self._file.readinto(buffer)

    def _hole(self, offset: int, most: int) -> int:
        """Bytes from here that were never written; read, they would crowd out the page cache."""
        number = self._file.fileno()
        end = os.fstat(number).st_size
        try:
            data = os.lseek(number, offset, os.SEEK_DATA)
        except OSError as error:
            data = end if error.errno == errno.ENXIO else offset
        return max(0, min(data - offset, end - offset, most))

    def close(self) -> None:
        self._file.close()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


_MOST_OPEN = 64


class Files:
    """Files that are being read, each opened once."""

    def __init__(self) -> None:
        self._open: dict[str, _File] = {}

    def __enter__(self) -> "Files":
        return self

    def __exit__(self, *_: object) -> None:
        with ExitStack() as stack:
            for file in self._open.values():
                stack.callback(file.close)
        self._open.clear()

    def chunks(self, extents: tuple[Extent, ...], itemsize: int) -> Iterator[Bytes]:
        """The bytes of the extents, one behind the other, in whole elements.

        Each array is the thread's own buffer: it is good until the next is asked for.

        Raises:
            EndedEarlyError: After all that is there: a file is shorter than an extent of it.
            OSError: A file cannot be opened or read.
        """
        buffer = _buffer()
        view, filled = memoryview(buffer), 0  # type: ignore[arg-type]
        for extent in extents:
            done, file = 0, self._file(extent.path)
            while done < extent.nbytes:
                stop = min(CHUNK, filled + extent.nbytes - done)
                count = file.read_into(view[filled:stop], extent.offset + done)
                if count == 0:
                    yield buffer[: filled - filled % itemsize]
                    raise EndedEarlyError(extent.path)
                done, filled = done + count, filled + count
                if filled == CHUNK:
                    yield buffer
                    filled = 0
        if filled >= itemsize:
            yield buffer[: filled - filled % itemsize]

    def _file(self, path: str) -> _File:
        if path not in self._open:
            if len(self._open) == _MOST_OPEN:
                self._open.pop(next(iter(self._open))).close()
            self._open[path] = remote.RemoteFile(path) if is_remote(path) else _LocalFile(path)
        return self._open[path]


_of_thread: Any = threading.local()


def _buffer() -> Bytes:
    if not hasattr(_of_thread, "buffer"):
        _of_thread.buffer = np.empty(CHUNK, np.uint8)
    buffer: Bytes = _of_thread.buffer
    return buffer
