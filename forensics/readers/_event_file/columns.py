"""Events of equal length to columns: step, wall time, tag and value of every scalar."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forensics.readers._event_file.layout import Layout, Number, layout_of
from forensics.readers._event_file.stream import Batch
from forensics.readers._event_file.tag_table import TagTable
from forensics.run import Steps, Values

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Alike:
    """Events of one layout."""

    layout: Layout
    rows: Bytes
    """Shape (n, length), one payload each."""
    number: NDArray[np.int64]
    """Shape (n,), which record of the piece each is, ascending."""


@dataclass(frozen=True, eq=False)
class Points:
    """Scalars, one each row; all arrays of shape (n,)."""

    number: NDArray[np.int64]
    """Which record of the piece it was in."""
    tag: NDArray[np.int64]
    """Its number in the tag table."""
    step: Steps
    value: Values
    wall_time: Values
    """Seconds since the epoch, zero where absent."""


def split_by_layout(batch: Batch) -> Iterator[Alike]:
    """Sort the events of a batch by layout, each found from the first event that has it."""
    while len(batch.number):
        layout = layout_of(batch.rows[0].tobytes())
        same = _agree(batch.words, layout.seen)
        chosen = batch if same.all() else batch.only(same)
        yield Alike(layout, chosen.rows, chosen.number)
        batch = batch.only(~same)


def _agree(words: NDArray[np.uint64], seen: bytes) -> NDArray[np.bool_]:
    """Shape (n,): which rows agree with the first one in the bits of ``seen``."""
    mask = np.frombuffer(seen.rjust(8 * words.shape[1], b"\0"), "<u8")
    differing = np.zeros(len(words), np.uint64)
    for column in np.flatnonzero(mask):
        differing |= (words[:, column] ^ words[0, column]) & mask[column]
    same: NDArray[np.bool_] = differing == 0
    return same


def points_of(alike: Alike, tags: TagTable) -> Iterator[Points]:
    """The scalars of some events: one set of columns for each value that an event holds."""
    layout, rows = alike.layout, alike.rows
    if not layout.scalars:
        return
    step = _varints(rows[:, layout.step]).view(np.int64)
    wall_time = _values(rows, Number(layout.wall_time, "<f8"))
    for scalar in layout.scalars:
        tag = tags.identify(rows[:, scalar.tag])
        yield Points(alike.number, tag, step, _values(rows, scalar.number), wall_time)


def _values(rows: Bytes, number: Number) -> Values:
    """Shape (n,): one number of each event."""
    raw = rows[:, number.at]
    if raw.shape[1] == 0:
        return np.zeros(len(rows))
    if number.dtype == "bfloat16":  # the upper half of a float32
        bits = _bits(raw, "<u2", number.varint).astype(np.uint32) << 16
        return bits.view(np.float32).astype(np.float64)
    return _bits(raw, number.dtype, number.varint).astype(np.float64)


def _bits(raw: Bytes, dtype: str, varint: bool) -> NDArray[np.generic]:
    """Shape (n,): numbers of a type, from their bytes or from a varint that holds the bits."""
    if not varint:
        return _fixed(raw, dtype)
    size = np.dtype(dtype).itemsize
    return _varints(raw).astype(f"<u{size}").view(dtype)


def _fixed(raw: Bytes, dtype: str) -> NDArray[np.generic]:
    return np.ascontiguousarray(raw).view(dtype)[:, 0]


def _varints(raw: Bytes) -> NDArray[np.uint64]:
    """Shape (n,): base-128 numbers of equally many bytes, the lowest first."""
    number = np.zeros(len(raw), np.uint64)
    for column in range(raw.shape[1]):
        part = raw[:, column].astype(np.uint64) & np.uint64(127)
        number |= part << np.uint64(7 * column)
    return number
