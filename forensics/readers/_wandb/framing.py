"""The frames of a ``.wandb`` file: LevelDB's log format with a header of its own.

Blocks of 32 KiB hold chunks ``crc32(type, data) | length | type | data``; a record is one chunk
or a first, some middle and a last one. What is damaged costs the rest of its block.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

HEADER = b":W&B\xe1\xbe\x00"
"""Mark, magic number and version of the one format there is."""
BLOCK = 1 << 15
MOST_BYTES = 1 << 26
"""No record of numbers is longer; what is (a table, a picture) is passed over."""
_CHUNK = struct.Struct("<IHB")
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4


@dataclass
class Frames:
    """Reads the records of a file, and counts what could not be read."""

    file: BinaryIO
    damaged: int = 0
    """Blocks of which a part was lost."""
    cut: bool = False
    """The file ends within a record: whoever wrote it did not end by itself."""

    def records(self) -> Iterator[tuple[bytes, int]]:
        """Every whole record, and the bytes of the file read since the one before."""
        parts: list[bytes] | None = None
        done = 0
        while block := self.file.read(BLOCK):
            at = len(HEADER) if not done else 0
            last = len(block) < BLOCK
            fresh, done = len(block), done + len(block)
            for kind, data in self._chunks(block, at, last):
                if kind in (_FULL, _FIRST):
                    parts = [data]
                elif parts is not None and kind in (_MIDDLE, _LAST):
                    parts.append(data)
                    parts = None if sum(map(len, parts)) > MOST_BYTES else parts
                else:
                    parts = None
                if parts is not None and kind in (_FULL, _LAST):
                    yield b"".join(parts), fresh
                    parts, fresh = None, 0
        self.cut = self.cut or parts is not None

    def _chunks(self, block: bytes, at: int, last: bool) -> Iterator[tuple[int, bytes]]:
        """The sound chunks of a block, up to the first that is none; 0 marks a break."""
        while at + _CHUNK.size <= len(block):
            crc, length, kind = _CHUNK.unpack_from(block, at)
            start, end = at + _CHUNK.size, at + _CHUNK.size + length
            if not kind and not length and not block[at:].strip(b"\0"):
                return
            if last and end > len(block):
                self.cut = True
                return
            if end > len(block) or zlib.crc32(block[start - 1 : end]) != crc:
                self.damaged += 1
                yield 0, b""
                return
            yield kind, block[start:end]
            at = end
        self.cut = self.cut or (last and bool(block[at:].strip(b"\0")))
