"""Follows records from header to header: step by step, and in bulk where lengths repeat.

What a program logs step after step has the same lengths in the same order. So a short stretch is
followed one by one; if it repeats itself, all further headers are where the repetition puts them,
and it takes one comparison of arrays to see that they are indeed there.
"""

import struct
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from forensics.readers._event_file.crc32c import masked_crc, masked_crc_of_rows
from forensics.readers._event_file.words import Bytes, Index, u32_at, u64_at

HEADER = 12  # bytes: length and its checksum
FRAME = 16  # bytes around each payload
MAX_PAYLOAD = 1 << 28  # no event is longer; believing in more would only fill the memory

_STRETCH = 1024  # records followed one by one before a repetition is looked for
_AHEAD = 1 << 18  # bytes looked ahead at a time: what lies beyond a break is looked at in vain
_SEARCHED = 1 << 10, 1 << 17  # bytes searched at first, and at most, at a time
_HEADER = struct.Struct("<QI")


@lru_cache(maxsize=1 << 16)
def _is_header(length: int, crc: int) -> bool:
    return 0 < length <= MAX_PAYLOAD and masked_crc(length.to_bytes(8, "little")) == crc


def missing_at(data: Bytes, at: int) -> int | None:
    """How many bytes the record at ``at`` lacks; None where no header lies there."""
    if at + HEADER > len(data):
        return None
    length, crc = _HEADER.unpack_from(data.data, at)
    return max(0, at + length + FRAME - len(data)) if _is_header(length, crc) else None


def follow(data: Bytes, at: int) -> tuple[Index, Index]:
    """The whole records that follow each other without a gap from ``at`` on.

    Args:
        data: Shape (size,).
        at: Where the first header should be.

    Returns:
        Position and payload length of each, both of shape (n,).
    """
    parts = [np.zeros((2, 0), np.int64)]
    while True:
        stretch = _stretch(data, at)
        parts.append(stretch)
        if stretch.shape[1] < _STRETCH:
            break
        repeated = _repetition(data, stretch)
        parts.append(repeated)
        last = repeated if repeated.shape[1] else stretch
        at = int(last[:, -1].sum()) + FRAME
    position, length = np.concatenate(parts, axis=1)
    return position, length


def _stretch(data: Bytes, at: int) -> Index:
    """Shape (2, n): position and length of up to _STRETCH records, followed one by one."""
    found: list[tuple[int, int]] = []
    buffer, size = data.data, len(data)
    while len(found) < _STRETCH and at + FRAME <= size:
        length, crc = _HEADER.unpack_from(buffer, at)
        if not _is_header(length, crc) or at + length + FRAME > size:
            break
        found.append((at, length))
        at += length + FRAME
    return np.array(found, np.int64).reshape(-1, 2).T


def _repetition(data: Bytes, stretch: Index) -> Index:
    """Shape (2, n): the records behind a stretch that go on repeating the end of it."""
    cycle = _cycle(stretch[1])
    parts = [np.zeros((2, 0), np.int64)]
    at = int(stretch[:, -1].sum()) + FRAME
    crc = u32_at(data, stretch[0, len(stretch[0]) - len(cycle) :] + 8)
    whole = len(cycle) > 0
    while whole and at + FRAME < len(data):
        found, at, whole = _turns(data, at, cycle, crc)
        parts.append(found)
    return np.concatenate(parts, axis=1)


def _turns(data: Bytes, at: int, cycle: Index, crc: NDArray[np.uint32]) -> tuple[Index, int, bool]:
    """Records (2, n) that repeat a cycle of lengths from ``at`` on, for a limited way.

    Also where the way ends, and whether all of it was right.
    """
    end = np.cumsum(cycle + FRAME)
    count = -(-min(_AHEAD, len(data) - at) // int(end[-1]))
    turn = at + end[-1] * np.arange(count)[:, None]
    position, length = (turn + (end - cycle - FRAME)).ravel(), np.tile(cycle, count)
    inside = int(np.searchsorted(position + length + FRAME, len(data), side="right"))
    position, length = position[:inside], length[:inside]
    right = u64_at(data, position) == length.astype(np.uint64)
    right &= u32_at(data, position + 8) == np.tile(crc, count)[:inside]
    kept = inside if right.all() else int(right.argmin())
    found = np.stack((position[:kept], length[:kept]))
    return found, at + int(end[-1]) * count, kept == count * len(cycle)


def _cycle(length: Index) -> Index:
    """The lengths since the latter half of a sequence last came; empty where it never did."""
    written = length.astype("<u4").tobytes()
    half = written[len(length) // 2 * 4 :]
    before = written.rfind(half, 0, -4)
    if before < 0 or before % 4:
        return length[:0]
    return length[-((len(written) - len(half) - before) // 4) :]


def search(data: Bytes, begin: int) -> int | None:
    """Where the first header at or behind ``begin`` lies, whole record or not."""
    size, most = _SEARCHED
    while begin + HEADER <= len(data):
        found = _first_header(data[begin : begin + size + HEADER - 1])
        if found is not None:
            return begin + found
        begin += size
        size = min(2 * size, most)
    return None


def _first_header(data: Bytes) -> int | None:
    zero = data == 0
    pair = zero[:-1] & zero[1:]
    quad = pair[:-2] & pair[2:]
    # The upper half of a length is zero and the lower half is not: true of few other places.
    count = len(data) - HEADER + 1
    position = np.flatnonzero(quad[4:][:count] > quad[:count])
    length = u64_at(data, position)
    computed = masked_crc_of_rows(length[:, None], 8)
    right = (computed == u32_at(data, position + 8)) & (length <= MAX_PAYLOAD)
    return int(position[right.argmax()]) if right.any() else None
