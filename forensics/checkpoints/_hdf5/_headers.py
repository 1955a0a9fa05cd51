"""Superblock and object headers (HDF5 File Format Specification 3.0, II and IV.A)."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from forensics.checkpoints._hdf5._bytes import Bytes, expect

MAX_MESSAGES = 100_000
_CONTINUATION = 0x10


@dataclass(frozen=True)
class Superblock:
    """Where the file ends and its tree begins."""

    end: int
    root: int
    """Address of the root group's header."""


@dataclass(frozen=True)
class Message:
    """One message of an object header."""

    kind: int
    data: bytes
    shared: bool


def read_superblock(source: Bytes) -> Superblock:
    """The superblock of any version with addresses of eight bytes.

    Raises:
        UnreadableFile: It is cut off or of another kind.
    """
    version = source.read(8, 1)[0]
    if version < 2:
        widths = source.read(13, 2)
        fields = 24 + (4 if version else 0)
        _, _, end, _, _, root = source.unpack("6Q", fields)
    else:
        expect(version < 4, "unknown version")
        widths = source.read(9, 2)
        _, _, end, root = source.unpack("4Q", 12)
    expect(widths == b"\x08\x08", "unusual widths")
    return Superblock(end, root)


def messages(source: Bytes, address: int) -> Iterator[Message]:
    """The messages of the object at ``address``, continuations included.

    Raises:
        UnreadableFile: It is damaged.
    """
    newer = source.read(address, 4) == b"OHDR"
    blocks = [_first_newer(source, address) if newer else _first_older(source, address)]
    tracked = bool(newer and source.read(address + 5, 1)[0] & 4)
    for _ in range(MAX_MESSAGES):
        if not blocks:
            return
        offset, nbytes = blocks.pop(0)
        block = source.read(offset, nbytes)
        for message in _in_block(block, newer=newer, tracked=tracked):
            if message.kind == _CONTINUATION and len(message.data) >= 16:
                at, length = struct.unpack_from("<2Q", message.data)
                blocks.append((at + 4, length - 8) if newer else (at, length))
            else:
                yield message


def _first_older(source: Bytes, address: int) -> tuple[int, int]:
    version, _, _, _, size = source.unpack("BBHLL", address)
    expect(version == 1, "no object header")
    return address + 16, size


def _first_newer(source: Bytes, address: int) -> tuple[int, int]:
    version, flags = source.read(address + 4, 2)
    expect(version == 2, "no object header")
    at = address + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    width = 1 << (flags & 3)
    return at + width, int.from_bytes(source.read(at, width), "little")


def _in_block(block: bytes, *, newer: bool, tracked: bool) -> Iterator[Message]:
    at, head = 0, (6 if tracked else 4) if newer else 8
    while at + head <= len(block):
        if newer:
            kind, size, flags = struct.unpack_from("<BHB", block, at)
        else:
            kind, size, flags = struct.unpack_from("<HHB", block, at)
        yield Message(kind, block[at + head : at + head + size], bool(flags & 2))
        at += head + size
