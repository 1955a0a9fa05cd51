"""Compressed entries: inflated piece by piece, never beyond what was asked for."""

import zlib
from collections.abc import Iterator

from forensics.checkpoints._reading import Source, read_at
from forensics.checkpoints._zip._member import DEFLATED, STORED, Member
from forensics.errors import UnreadableFile

_PIECE = 1 << 18


def inflate(file: Source, member: Member, limit: int) -> bytes:
    """The first ``limit`` bytes of an entry, uncompressed.

    Raises:
        UnreadableFile: It is compressed in a way that is not known, or damaged.
    """
    if member.method == STORED:
        return read_at(file, member.offset, min(limit, member.nbytes))
    if member.method != DEFLATED:
        raise UnreadableFile(f"{member.name} is compressed by a method that is not read")
    parts, left = [], limit
    for piece in inflated(file, member.offset, member.nbytes):
        parts.append(piece[:left])
        left -= len(parts[-1])
        if not left:
            break
    return b"".join(parts)


def inflated(file: Source, offset: int, nbytes: int) -> Iterator[bytes]:
    """Pieces of a deflated range, each at most 256 KiB.

    Raises:
        UnreadableFile: It is damaged.
    """
    machine = zlib.decompressobj(-zlib.MAX_WBITS)
    end = offset + nbytes
    while offset < end and not machine.eof:
        block = read_at(file, offset, min(_PIECE, end - offset))
        if not block:
            return
        offset += len(block)
        while block:
            try:
                piece = machine.decompress(block, _PIECE)
            except zlib.error as error:
                raise UnreadableFile(f"compressed data is damaged ({error})") from error
            if piece:
                yield piece
            block = machine.unconsumed_tail
    rest = machine.flush()  # what the last piece had no room for
    if rest:
        yield rest
