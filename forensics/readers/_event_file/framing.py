"""TFRecord framing: where the records of a buffer lie, and how to go on behind damage.

A record is ``u64 length, u32 crc(length), payload, u32 crc(payload)``, little-endian, with masked
CRC-32C. The length has a checksum of its own, so a header can be told from anything else: records
are followed from header to header, and where that chain breaks, the next header that can be found
takes it up again. Damage costs only the records that it touched.
"""

from dataclasses import dataclass

import numpy as np

from forensics.readers._event_file.chain import FRAME, HEADER, follow, missing_at, search
from forensics.readers._event_file.crc32c import masked_crc_of_spans
from forensics.readers._event_file.words import Bytes, Index, u32_at


@dataclass(frozen=True)
class Span:
    """Bytes ``begin`` to ``end`` of a file that gave nothing."""

    begin: int
    end: int
    cut: bool = False
    """True where the file ends inside a record, as after a crash: not damage."""

    def moved(self, by: int) -> "Span":
        """The same bytes, counted from ``by`` bytes earlier."""
        return Span(self.begin + by, self.end + by, self.cut)


@dataclass(frozen=True, eq=False)
class Frames:
    """The records of a buffer; the checksums of their payloads are still to be verified."""

    start: Index
    """Shape (n,), where each payload begins in the buffer, ascending."""
    length: Index
    """Shape (n,), bytes of each payload."""
    lost: tuple[Span, ...]
    consumed: int
    """Bytes of the buffer that are done with; the rest belongs before the next piece."""
    needed: int = 0
    """Bytes that must be added before more can be said."""


def frames(data: Bytes, last: bool) -> Frames:
    """Follow the records of a piece of a file that begins where a record should.

    What comes out of a file does not depend on where it is cut into pieces.

    Args:
        data: Shape (size,).
        last: True where the file ends with ``data``.
    """
    runs: list[tuple[Index, Index]] = []
    lost: list[Span] = []
    at = needed = 0
    while at < len(data):
        run, at, lacking = _run(data, at, last)
        runs.append(run)
        if at == len(data) or (lacking and not last):
            needed = lacking
            break
        found = search(data, at + 1)
        end = found if found is not None else len(data) if last else len(data) - HEADER + 1
        lost.append(Span(at, end, cut=bool(lacking) and end == len(data)))
        at = end
    position, length = np.concatenate(runs, axis=1) if runs else np.zeros((2, 0), np.int64)
    return Frames(position + HEADER, length, tuple(lost), at, needed)


def _run(data: Bytes, at: int, last: bool) -> tuple[tuple[Index, Index], int, int]:
    """Records without a gap from ``at`` on, where they end, and what is lacking to see why.

    A record with a damaged payload and no header behind it is not one of them: there may be
    others inside what it claims to be its own.
    """
    position, length = follow(data, at)
    end = int(position[-1] + length[-1]) + FRAME if len(position) else at
    lacking = missing_at(data, end)
    if lacking is None:
        lacking = max(0, end + HEADER - len(data))
        done = last and end == len(data)
        if len(position) and not done:
            tail = int(position[-1])
            if not _is_intact(data, tail, int(length[-1])):
                return (position[:-1], length[:-1]), tail, 0 if last else lacking
    return (position, length), end, lacking


def _is_intact(data: Bytes, position: int, length: int) -> bool:
    """Whether the payload of one record has its checksum."""
    start, stop = position + HEADER, position + HEADER + length
    computed = masked_crc_of_spans(data[start:stop], np.array([0]), np.array([length]))
    return bool(computed[0] == u32_at(data, np.array([stop]))[0])
