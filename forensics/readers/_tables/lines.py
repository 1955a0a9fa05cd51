"""The common loop of the readers of lines: the bulk fast, what does not fit one by one."""

import os
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from forensics.readers._tables.layouts import Layout, PackedLayouts, Scan, Scratch, hand_over, pack
from forensics.readers._tables.table import Table, TableBuilder

BULK_BYTES = 1 << 23
"""Files from this size on are worth the start of the hot loop (half a second)."""

_WORKERS = min(4, os.cpu_count() or 1)
_MAX_LAYOUTS = 64
_PATIENCE = 2000  # lines read singly before layouts must have paid

Row = list[tuple[str, float | str]]


class Grammar(Protocol):
    """How one format writes its lines; may remember a header between them."""

    decimal_point: bytes
    generation: int
    """Changes when layouts learned before no longer hold (a new header)."""
    open: bool
    """True while a line was kept back: the next one belongs to it."""

    def read(self, line: bytes, finished: bool) -> Sequence[Row]:
        """The rows of a line, most often one; ``finished``: it ends in a newline.

        A line that opens what only a later line closes is kept back and joined to the next.
        """

    def layout(self, line: bytes) -> Layout | None:
        """The layout of the line that was just read, or None where only `read` can do it."""


def read_lines(blocks: Iterable[bytes], grammar: Grammar, bulk: bool) -> Table:
    """Read every row of the blocks, in order; ``bulk``: with the hot loop where it can."""
    builder = TableBuilder()
    if bulk:
        _BulkLoop(grammar, builder).run(blocks)
    else:
        for block in blocks:
            _read_singly(block, grammar, builder)
    return builder.table()


def _read_singly(block: bytes, grammar: Grammar, builder: TableBuilder) -> None:
    *lines, unfinished = block.split(b"\n")
    for line in lines:
        for row in grammar.read(line, finished=True):
            builder.add_row(row)
    if unfinished:
        for row in grammar.read(unfinished, finished=False):
            builder.add_row(row)


class _BulkLoop:
    """Blocks are scanned ahead in threads, with the layouts known by then, and taken in order."""

    def __init__(self, grammar: Grammar, builder: TableBuilder) -> None:
        self._grammar, self._builder = grammar, builder
        self._packed: PackedLayouts = pack(())
        self._generation = grammar.generation
        self._room = threading.local()
        self._singly = 0

    def run(self, blocks: Iterable[bytes]) -> None:
        ahead: deque[tuple[bytes, Future[Scan]]] = deque()
        with ThreadPoolExecutor(_WORKERS) as pool:
            for block in blocks:
                ahead.append((block, pool.submit(self._scan, _whole_lines(block))))
                if len(ahead) > _WORKERS:
                    self._take(*ahead.popleft())
            while ahead:
                self._take(*ahead.popleft())

    def _scan(self, data: NDArray[np.uint8], start: int = 0) -> Scan:
        if not hasattr(self._room, "scratch"):
            self._room.scratch = Scratch()
        scratch: Scratch = self._room.scratch
        return scratch.scan(self._packed, data, start, self._grammar.decimal_point[0])

    def _take(self, block: bytes, scanned: "Future[Scan]") -> None:
        """Add the rows of a block: those scanned ahead, then the rest."""
        data, position = _whole_lines(block), 0
        self._forget_renamed()
        scan = scanned.result()
        known = set(scan.packed.layouts) <= set(self._packed.layouts)
        if known and not self._grammar.open:
            hand_over(scan, self._builder)
            position = scan.stop
        while position < len(data) and not self._hopeless():
            position = self._read_and_learn(block, position)
            if self._packed.layouts and not self._grammar.open:
                scan = self._scan(data, position)
                hand_over(scan, self._builder)
                position = scan.stop
        if position < len(block):
            _read_singly(block[position:], self._grammar, self._builder)

    def _read_and_learn(self, block: bytes, position: int) -> int:
        """Read one line singly, and learn its layout; returns where the next one starts."""
        end = block.index(b"\n", position)
        line = block[position:end]
        rows = self._grammar.read(line, finished=True)
        for row in rows:
            self._builder.add_row(row)
        self._singly += 1
        self._forget_renamed()
        layout = self._grammar.layout(line) if len(rows) == 1 else None
        if layout is not None:
            self._packed = pack((*self._packed.layouts[1 - _MAX_LAYOUTS :], layout))
        return end + 1

    def _forget_renamed(self) -> None:
        """Follow no layout from before a new header."""
        if self._grammar.generation != self._generation:
            self._generation, self._packed = self._grammar.generation, pack(())

    def _hopeless(self) -> bool:
        """True where the lines have too little in common for layouts to pay."""
        return self._singly > max(_PATIENCE, self._builder.length / 2)


def _whole_lines(block: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(block, np.uint8, block.rfind(b"\n") + 1)
