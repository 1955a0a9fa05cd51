"""Walks an archive from header to header, where the directory at its end is missing.

torch leaves the sizes in the headers at zero and writes them behind the bytes. The pickle, which
comes first, tells its own end and the size of every storage; what it does not tell is found by
looking for the record behind the bytes.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forensics.checkpoints._reading import Source, read_at
from forensics.checkpoints._zip._member import STORED, LocalHeader, Member, read_local_header
from forensics.checkpoints._zip._sight import SIGNATURE

Measure = Callable[[str, int], int | None]
"""(name, offset of the bytes) -> their number, or None where it cannot be told."""
_RECORD = b"PK\x07\x08"
_BLOCK = 1 << 20
_SEARCH = 256 << 20
"""Bytes of one file that are searched at most; a second's work."""
MAX_ENTRIES = 200_000


def unmeasured(_name: str, _offset: int) -> int | None:
    """Tells no size."""
    return None


def salvage(file: Source, start: int, end: int, measure: Measure) -> Iterator[Member]:
    """The entries between ``start`` and ``end``, the last perhaps in part."""
    search = _Search(file, end)
    at = search.find(SIGNATURE, start)
    for _ in range(MAX_ENTRIES):
        header = None if at is None else read_local_header(file, at)
        if header is None:
            return
        nbytes = _measured(file, header, end, measure, search)
        there = end - header.payload if nbytes is None else min(nbytes, end - header.payload)
        lost = 1 if nbytes is None else nbytes - there
        size = header.size or there + lost
        yield Member(header.name, header.method, header.payload, max(0, there), size, lost)
        at = search.find(SIGNATURE, header.payload + there) if not lost else None


def _measured(
    file: Source, header: LocalHeader, end: int, measure: Measure, search: "_Search"
) -> int | None:
    if not header.streamed:
        return header.nbytes
    known = measure(header.name, header.payload) if header.method == STORED else None
    return search.record_behind(header.payload) if known is None else known


@dataclass
class _Search:
    """Looks for byte patterns, within a bound for the whole file."""

    file: Source
    end: int
    left: int = _SEARCH

    def find(self, pattern: bytes, start: int) -> int | None:
        """Offset of the next ``pattern``."""
        at = start
        while at < self.end and self.left > 0:
            block = read_at(self.file, at, min(_BLOCK if at > start else 256, self.end - at))
            found = block.find(pattern)
            if found >= 0:
                return at + found
            if len(block) < len(pattern):
                return None
            at += len(block) - len(pattern) + 1
            self.left -= len(block)
        return None

    def record_behind(self, payload: int) -> int | None:
        """Bytes between ``payload`` and the record that gives just their number."""
        at = self.find(_RECORD, payload)
        while at is not None:
            record = read_at(self.file, at, 24)
            nbytes = at - payload
            if _tells(record, nbytes):
                return nbytes
            at = self.find(_RECORD, at + 1)
        return None


def _tells(record: bytes, nbytes: int) -> bool:
    narrow = len(record) >= 16 and struct.unpack_from("<L", record, 8)[0] == nbytes
    wide = len(record) >= 24 and struct.unpack_from("<Q", record, 8)[0] == nbytes
    return narrow or wide
