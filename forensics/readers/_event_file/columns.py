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
    """Scalars of one tag; all arrays of shape (n,)."""

    tag: int
    """Its number in the tag table."""
    number: NDArray[np.int64]
    """Which record of the piece each was in, ascending."""
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
    """The scalars of some events, by place in the event and by tag."""
    layout, rows = alike.layout, alike.rows
    if not layout.scalars:
        return
    step = _varints(rows[:, layout.step]).view(np.int64)
    wall_time = _values(rows, Number(layout.wall_time, "<f8"))
    for scalar in layout.scalars:
        value = _values(rows, scalar.number)
        for tag, at in _by_tag(tags.identify(rows[:, scalar.tag])):
            yield Points(tag, alike.number[at], step[at], value[at], wall_time[at])


def _by_tag(tag: NDArray[np.int64]) -> Iterator[tuple[int, slice | NDArray[np.int64]]]:
    """Each tag with the rows that have it, ascending."""
    if (tag == tag[0]).all():
        yield int(tag[0]), slice(None)
        return
    key = tag.astype(np.uint16) if tag.max() < 1 << 16 else tag
    order = np.argsort(key, kind="stable")  # a radix sort where the key is short
    for rows in np.split(order, np.flatnonzero(np.diff(tag[order])) + 1):
        yield int(tag[rows[0]]), rows


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
