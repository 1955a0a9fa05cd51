"""Layouts of lines: what lets the hot loop read a million lines after one was understood.

A layout is what two lines of a log have in common: literal bytes with slots between them. Text
that names something (a run, a phase) is part of the literal, so each name has a layout of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from forensics.readers._tables.cells import is_not_logged, parse_number
from forensics.readers._tables.table import TableBuilder
from forensics.readers._tables.training import is_counter, is_metric
from forensics.signals import Signal, classify

_MAX_HARD = 4096
_BYTES_A_NUMBER = 2  # the least that a number and its separator take


@dataclass(frozen=True, eq=False)
class Layout:
    """``literals[0] slots[0] literals[1] … literals[-1]``, then the end of the line."""

    literals: tuple[bytes, ...]
    slots: tuple[str, ...]
    """The column of the number in each slot, '' for text that is passed over."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Text columns that the literals fix."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of its numbers, in order."""
        return tuple(name for name in self.slots if name)


def may_skip(name: str, text: str) -> bool:
    """True where the text in a column is of no interest, in this line and in those like it."""
    kept = is_metric(name) or is_counter(name) or classify(name) is Signal.WALL_TIME
    return not kept and parse_number(text) is None and not is_not_logged(text)


@dataclass(frozen=True, eq=False)
class PackedLayouts:
    """Layouts as the hot loop takes them."""

    layouts: tuple[Layout, ...]
    literals: NDArray[np.uint8]
    pieces: NDArray[np.int64]
    first_piece: NDArray[np.int64]


def pack(layouts: Sequence[Layout]) -> PackedLayouts:
    """Lay the literals of all layouts end to end."""
    from forensics.readers._tables.scan_numba import END, NUMBER, SKIPPED

    literals = bytearray(b"\0")
    pieces: list[tuple[int, int, int]] = []
    first: list[int] = []
    for layout in layouts:
        first.append(len(pieces))
        kinds = [NUMBER if name else SKIPPED for name in layout.slots]
        for literal, kind in zip(layout.literals, [*kinds, END], strict=True):
            pieces.append((len(literals), len(literals) + len(literal), kind))
            literals += literal
    return PackedLayouts(
        tuple(layouts),
        np.frombuffer(bytes(literals), np.uint8),
        np.array(pieces, np.int64).reshape(-1, 3),
        np.array(first, np.int64),
    )


@dataclass(frozen=True, eq=False)
class Scan:
    """Lines that the hot loop has read."""

    packed: PackedLayouts
    stop: int
    """Where the first line starts that it could not read."""
    bits: NDArray[np.uint64]
    """Shape (numbers,), line by line."""
    layout_of: NDArray[np.int16]
    """Shape (lines,)."""


class Scratch:
    """Room for what one thread scans at a time."""

    def __init__(self) -> None:
        self._bits = np.empty(0, np.uint64)
        self._layout_of = np.empty(0, np.int16)
        self._hard = np.empty((_MAX_HARD, 3), np.int64)

    def scan(self, packed: PackedLayouts, data: NDArray[np.uint8], start: int, point: int) -> Scan:
        """Read lines of the layouts from ``start`` on, until one is different.

        Args:
            packed: The layouts to try.
            data: Shape (n,), bytes that end with a newline.
            start: Where the first line starts.
            point: The byte before the decimals.
        """
        from forensics.readers._tables.scan_numba import scan_lines

        if len(self._bits) < len(data):
            self._bits = np.empty(len(data) // _BYTES_A_NUMBER + 4096, np.uint64)
            self._layout_of = np.empty(len(data) // _BYTES_A_NUMBER + 64, np.int16)
        stop, lines, count, hard = scan_lines(
            data,
            start,
            point,
            packed.literals,
            packed.pieces,
            packed.first_piece,
            self._bits,
            self._layout_of,
            self._hard,
        )
        bits = self._bits[:count].copy()
        values, decimal = bits.view(np.float64), bytes([point])
        for place, begin, end in self._hard[:hard].tolist():
            values[place] = float(data[begin:end].tobytes().replace(decimal, b"."))
        return Scan(packed, stop, bits, self._layout_of[:lines].copy())


def hand_over(scan: Scan, builder: TableBuilder) -> None:
    """Give the numbers of a scan to the builder, column by column."""
    layouts, lines = scan.packed.layouts, len(scan.layout_of)
    first_row, builder.length = builder.length, builder.length + lines
    present = np.flatnonzero(np.bincount(scan.layout_of)).tolist()
    if len(present) == 1:
        rows = np.arange(first_row, first_row + lines)
        _add(layouts[present[0]], rows, scan.bits, builder)
        return
    widths = np.array([len(layout.names) for layout in layouts], np.int64)[scan.layout_of]
    starts = np.cumsum(widths) - widths
    for place in present:
        chosen = np.flatnonzero(scan.layout_of == place)
        places = starts[chosen][:, None] + np.arange(len(layouts[place].names))
        _add(layouts[place], chosen + first_row, scan.bits[places].ravel(), builder)


def _add(
    layout: Layout, rows: NDArray[np.int64], bits: NDArray[np.uint64], builder: TableBuilder
) -> None:
    """Add lines of one layout: shape (n,) rows and shape (n * numbers,) bits, line by line."""
    from forensics.readers._tables.scan_numba import NOT_LOGGED

    by_column = bits.reshape(len(rows), len(layout.names))
    for place, name in enumerate(layout.names):
        column = np.ascontiguousarray(by_column[:, place])
        logged = column != np.uint64(NOT_LOGGED)
        if logged.all():
            builder.add_values(name, rows, column.view(np.float64))
        elif logged.any():
            builder.add_values(name, rows[logged], column[logged].view(np.float64))
    for name, text in layout.labels.items():
        builder.add_label(name, rows, text)
