"""One entry of an archive, and the header that stands before its bytes."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from forensics.checkpoints._reading import Source, read_at
from forensics.checkpoints._zip._sight import SIGNATURE

STORED, DEFLATED = 0, 8
_HEADER = struct.Struct("<4s5H3L2H")
_ZIP64 = 0xFFFFFFFF


@dataclass(frozen=True)
class Member:
    """An entry: where its bytes lie in the file, as they are stored."""

    name: str
    method: int
    offset: int
    nbytes: int
    """As stored, and as far as they are there."""
    size: int
    """Uncompressed."""
    lost: int = 0
    """Stored bytes that the file no longer has."""


@dataclass(frozen=True)
class LocalHeader:
    """What stands before an entry; its sizes may be left to a record behind the bytes."""

    name: str
    method: int
    payload: int
    """Offset of the bytes."""
    nbytes: int
    size: int
    streamed: bool
    """True where the sizes follow the bytes."""


def read_local_header(file: Source, offset: int) -> LocalHeader | None:
    """Read the header at ``offset``; None where there is none, or only a part of it."""
    fixed = read_at(file, offset, _HEADER.size)
    if len(fixed) < _HEADER.size or not fixed.startswith(SIGNATURE):
        return None
    fields = _HEADER.unpack(fixed)
    flags, method, nbytes, size, name_length, extra_length = (
        *(fields[2], fields[3], fields[7], fields[8]),
        *(fields[9], fields[10]),
    )
    rest = file.read(name_length + extra_length)
    if len(rest) < name_length + extra_length:
        return None
    size, nbytes = widened(rest[name_length:], size, nbytes)
    return LocalHeader(
        name=decoded_name(rest[:name_length]),
        method=method,
        payload=offset + _HEADER.size + name_length + extra_length,
        nbytes=nbytes,
        size=size,
        streamed=bool(flags & 8) and not nbytes,
    )


def payload_offset(file: Source, offset: int) -> int | None:
    """Offset of the bytes of the entry whose header is at ``offset``; None where there is none."""
    fixed = read_at(file, offset, _HEADER.size)
    if len(fixed) < _HEADER.size or not fixed.startswith(SIGNATURE):
        return None
    fields = _HEADER.unpack(fixed)
    return int(offset + _HEADER.size + fields[9] + fields[10])


def decoded_name(raw: bytes) -> str:
    """The name as text, whatever its bytes are."""
    return raw.decode("utf-8", "replace")


def widened(extra: bytes, *fields: int) -> tuple[int, ...]:
    """Replace each field that was too small for its value by the one in the zip64 extra field."""
    wide = next((data for kind, data in _extra_fields(extra) if kind == 1), b"")
    values = iter(v for (v,) in struct.iter_unpack("<Q", wide[: len(wide) // 8 * 8]))
    return tuple(next(values, field) if field == _ZIP64 else field for field in fields)


def _extra_fields(extra: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        yield kind, extra[at + 4 : at + 4 + length]
        at += 4 + length
