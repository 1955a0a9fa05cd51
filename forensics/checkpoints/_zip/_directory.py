"""The central directory at the end of a zip archive."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from forensics.checkpoints._reading import Source, read_at
from forensics.checkpoints._zip._member import decoded_name, widened

MAX_DIRECTORY = 16 << 20
"""Bytes; about 200,000 entries, where the largest checkpoints have some thousands."""
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64 = struct.Struct("<4sLQL")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LONGEST_COMMENT = 0xFFFF


@dataclass(frozen=True)
class Entry:
    """One line of the directory."""

    name: str
    method: int
    nbytes: int
    size: int
    header: int
    """Offset of the local header."""


def read_directory(file: Source, start: int, end: int) -> list[Entry] | None:
    """Read the directory of the archive that fills [start, end); None where it has none."""
    tail_start = max(start, end - _LONGEST_COMMENT - _END.size)
    tail = read_at(file, tail_start, end - tail_start)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + _END.size > len(tail):
        return None
    fields = _END.unpack_from(tail, at)
    length, declared, stop = fields[5], fields[6], tail_start + at
    wide = _wide_end(file, start, stop)  # torch writes one for small archives too
    if wide is not None:
        length, declared, stop = wide
    if length > MAX_DIRECTORY or stop - length < start:
        return None
    shift = stop - length - declared  # bytes that stand before the archive itself
    return list(_entries(read_at(file, stop - length, length), shift))


def _wide_end(file: Source, start: int, end: int) -> tuple[int, int, int] | None:
    """(length, declared offset, end) of a zip64 directory, whose end record is before ``end``."""
    raw = read_at(file, max(start, end - _LOCATOR64.size), _LOCATOR64.size)
    if not raw.startswith(b"PK\x06\x07") or len(raw) < _LOCATOR64.size:
        return None
    at = end - _LOCATOR64.size - _END64.size
    record = read_at(file, max(start, at), _END64.size)
    if not record.startswith(b"PK\x06\x06") or len(record) < _END64.size:
        return None
    fields = _END64.unpack(record)
    return fields[8], fields[9], at


def _entries(directory: bytes, shift: int) -> Iterator[Entry]:
    at = 0
    while at + _ENTRY.size <= len(directory):
        fields = _ENTRY.unpack_from(directory, at)
        if fields[0] != b"PK\x01\x02":
            return
        name_length, extra_length, comment_length = fields[10:13]
        names = at + _ENTRY.size
        extras = names + name_length
        at = extras + extra_length + comment_length
        extra = directory[extras : extras + extra_length]
        size, nbytes, header = widened(extra, fields[9], fields[8], fields[16])
        name = decoded_name(directory[names:extras])
        yield Entry(name, fields[4], nbytes, size, header + shift)
