"""A TFRecord file as a stream of intact payloads, sorted into batches of equal length."""

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forensics.readers._base import Progress
from forensics.readers._event_file.chain import FRAME, HEADER
from forensics.readers._event_file.crc32c import (
    LONGEST_ROW,
    masked_crc_of_rows,
    masked_crc_of_spans,
)
from forensics.readers._event_file.framing import Frames, Span, frames
from forensics.readers._event_file.words import Bytes, Index, rows_at, u32_at

PIECE = 1 << 22  # bytes read at a time: what is made of it stays in the cache
GZIP_MAGIC = b"\x1f\x8b"
_FEW = 8  # records of one length below which it does not pay to look at them column by column


@dataclass(frozen=True, eq=False)
class Batch:
    """Payloads of one length whose checksums are right."""

    words: NDArray[np.uint64]
    """Shape (n, k), little-endian; each row is a payload, right-aligned behind zeros."""
    length: int
    """Bytes of each payload."""
    number: Index
    """Shape (n,), which record of the piece each is, ascending."""

    @property
    def rows(self) -> Bytes:
        """Shape (n, length), a view."""
        return self.words.view(np.uint8)[:, -self.length :]

    def only(self, chosen: NDArray[np.bool_]) -> "Batch":
        """The payloads where ``chosen`` (n,) is true."""
        return Batch(self.words[chosen], self.length, self.number[chosen])


@dataclass(frozen=True, eq=False)
class Piece:
    """What a stretch of the file gave."""

    batches: tuple[Batch, ...]
    lost: tuple[Span, ...]
    broken_archive: bool = False
    """True where a gzip archive is damaged or cut short here."""


def read_pieces(path: Path, progress: Progress, size: int = PIECE) -> Iterator[Piece]:
    """Read a file from one end to the other; memory does not grow with it.

    Raises:
        OSError: The file may not be read.
    """
    with path.open("rb") as file:
        source = _Source(file, progress)
        rest, needed, offset = np.zeros(0, np.uint8), 0, 0
        buffer = np.empty(size, np.uint8)
        while not source.ended:
            room = max(size, len(rest) + needed)
            larger = buffer if len(buffer) == room else np.empty(room, np.uint8)
            larger[: len(rest)] = rest
            buffer = larger
            filled = len(rest) + source.fill(buffer[len(rest) :])
            found = frames(buffer[:filled], source.ended)
            batches, damaged = _verified(buffer[:filled], found)
            lost = sorted((*found.lost, *damaged), key=lambda span: span.begin)
            yield Piece(tuple(batches), tuple(s.moved(offset) for s in lost), source.broken)
            offset += found.consumed
            rest, needed = buffer[found.consumed : filled], found.needed


class _Source:
    """A file, plain or gzip, that gives its bytes until they end or can't be unpacked."""

    def __init__(self, file: io.BufferedReader, progress: Progress) -> None:
        self._file = file
        self._progress = progress
        self._done = 0
        self.ended = False
        self.broken = False
        packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        file.seek(0)
        self._stream: io.BufferedIOBase = gzip.GzipFile(fileobj=file) if packed else file

    def fill(self, space: Bytes) -> int:
        """Read until ``space`` is full or the source ends; how many bytes were read."""
        filled = 0
        while filled < len(space) and not self.ended:
            count = self._some(space[filled : filled + PIECE])
            self.ended = not count
            filled += count
            now = self._file.tell()
            self._progress(now - self._done)
            self._done = now
        return filled

    def _some(self, space: Bytes) -> int:
        # readinto1 unpacks little at a time, so what precedes the damage is not lost with it.
        try:
            return self._stream.readinto1(space.data)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            self.broken = True
            return 0


def _verified(data: Bytes, found: Frames) -> tuple[list[Batch], list[Span]]:
    """The payloads that have the checksum stored behind them, and where the others lie."""
    stored = u32_at(data, found.start + found.length)
    computed = np.zeros_like(stored)
    batches, rest = [], [np.zeros(0, np.int64)]
    for length, number in _by_length(found.length):
        words = _words(data, found.start[number], length)
        batches.append(Batch(words, length, number))
        if len(number) < _FEW or length > LONGEST_ROW:
            rest.append(number)
        else:
            computed[number] = masked_crc_of_rows(words, length)
    odd = np.concatenate(rest)
    computed[odd] = masked_crc_of_spans(data, found.start[odd], found.length[odd])
    right = computed == stored
    if right.all():
        return batches, []
    begin = found.start[~right] - HEADER
    end = begin + FRAME + found.length[~right]
    lost = [Span(*span) for span in zip(begin.tolist(), end.tolist(), strict=True)]
    return [batch.only(right[batch.number]) for batch in batches], lost


def _by_length(length: Index) -> Iterator[tuple[int, Index]]:
    """Each length with the numbers of the records that have it, ascending."""
    key = length.astype(np.uint16) if length.max(initial=0) < 1 << 16 else length
    order = np.argsort(key, kind="stable")  # a radix sort where the key is short
    ordered = length[order]
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    for number in np.split(order, edges) if len(order) else ():
        yield int(length[number[0]]), number


def _words(data: Bytes, start: Index, length: int) -> NDArray[np.uint64]:
    """Shape (n, k): payloads as 8-byte words, right-aligned behind zeros."""
    spare = -length % 8  # at most 7 bytes, which lie in the header
    rows = rows_at(data, start - spare, length + spare)
    rows[:, :spare] = 0
    return rows.view("<u8")
