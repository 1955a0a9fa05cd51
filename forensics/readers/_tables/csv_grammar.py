"""Reads the lines of a delimited file one by one, with everything that goes wrong in them."""

import re
from collections import Counter

from forensics.readers._tables.cells import is_not_logged, parse_number, parse_time, parse_total
from forensics.readers._tables.dialect import (
    BLANK,
    WIDE,
    Dialect,
    is_header,
    is_rule,
    split_cells,
    unique_names,
)
from forensics.readers._tables.layouts import Layout, may_skip
from forensics.readers._tables.lines import Row
from forensics.readers._tables.remarks import MOST, Remark
from forensics.readers._tables.reshape import is_label, is_run_name
from forensics.readers._tables.training import is_counter
from forensics.signals import Signal, classify

_LONGEST_CELL = 1 << 16  # a quote that is not closed within it is no quote
_PLAIN = re.compile(rb"(\s*)([+-]?[\d.]*(?:[eE][+-]?\d+)?|[+-]?[A-Za-z]{2,8}|-)(\s*)(%|/\d+)?(\s*)")
_BULK_WORDS = frozenset(b"nan inf infinity null none na true false".split())


class CsvGrammar:
    """See `forensics.readers._tables.lines.Grammar`."""

    def __init__(self, dialect: Dialect) -> None:
        self.decimal_point = b"," if dialect.decimal_comma else b"."
        self.generation = 0
        self.open = False
        self.counts: Counter[str] = Counter()
        """How often each irregularity was met: repeated, long, cut, unreadable."""
        self.total_steps: int | None = None
        self.remarks: list[Remark] = []
        """Lines that are no rows; their numbers hold where every line was read singly."""
        self._dialect = dialect
        self._columns = dialect.columns
        self._line = -1
        self._rows = 0
        self._kept = ""
        self._outside = False

    def read(self, line: bytes, finished: bool) -> list[Row]:
        """See `forensics.readers._tables.lines.Grammar`."""
        self._line += 1
        if self._line <= self._dialect.header_line:
            return []
        text = self._joined(line.decode("utf-8", "replace").replace("\0", "").rstrip("\r\n"))
        if text is None or self._is_aside(text):
            return []
        cells = split_cells(text, self._dialect.delimiter, len(self._columns))
        if self._is_header(cells) or self._outside:
            return []
        row = self._row(cells if finished else self._whole(cells))
        if row is None:
            self.counts["unreadable"] += 1
            if len(self.remarks) < MOST:
                self.remarks.append(Remark(self._line + 1, self._rows, text))
            return []
        self._rows += 1
        return [row]

    def layout(self, line: bytes) -> Layout | None:
        """See `forensics.readers._tables.lines.Grammar`."""
        delimiter = self._dialect.delimiter
        if self.open or b'"' in line or b"#" in line or b"\0" in line or delimiter == WIDE:
            return None
        return _layout(line.rstrip(b"\r\n"), delimiter, self._columns)

    def _joined(self, text: str) -> str | None:
        """The line with those before it that its quotes belong to, None while one is open."""
        if self._dialect.delimiter in (WIDE, BLANK):
            return text
        whole = f"{self._kept}\n{text}" if self.open else text
        self.open = whole.count('"') % 2 == 1 and len(whole) < _LONGEST_CELL
        self._kept = whole if self.open else ""
        return None if self.open else whole

    def _is_aside(self, text: str) -> bool:
        """True for rules, comments, and what stands between the tables of a document."""
        if self._dialect.in_prose and "|" not in text:
            self._outside = True
            return True
        return is_rule(text) or text.lstrip().startswith("#")

    def _is_header(self, cells: list[str]) -> bool:
        """True where the header comes again (a restart), or a new one renames the columns."""
        if any(self._number(cell) is not None for cell in cells) or not is_header(cells):
            return False
        index = ("",) if self._columns[0] == "" != cells[0] else ()
        columns = (*index, *unique_names(cells))
        self._outside = False
        self.counts["repeated"] += set(columns) == set(self._columns)
        if columns != self._columns:
            self._columns = columns
            self.generation += 1
        return True

    def _whole(self, cells: list[str]) -> list[str]:
        """The cells of a last line that are sure to be whole, none where its place is not."""
        if len(cells) >= len(self._columns):
            return cells
        self.counts["cut"] += 1
        counters = [name for name in self._columns if classify(name) is Signal.STEP] or [
            name for name in self._columns if is_counter(name)
        ]
        lost = self._columns[len(cells) - 1 :]
        return [] if any(name in lost for name in counters) else cells[:-1]

    def _row(self, cells: list[str]) -> Row | None:
        """The named cells; None for words, and where the place of the row cannot be read."""
        if cells and all(self._number(cell) is None and not is_not_logged(cell) for cell in cells):
            return None
        if len(cells) > len(self._columns) and any(cells[len(self._columns) :]):
            self.counts["long"] += 1
        row: Row = []
        for name, cell in zip(self._columns, cells, strict=False):
            number = self._number(cell)
            if number is not None and not is_run_name(name):
                row.append((name, number))
                if "/" in cell and self.total_steps is None and is_counter(name):
                    self.total_steps = parse_total(cell)
            elif not is_not_logged(cell):
                if is_counter(name):
                    return None
                row += _named(name, cell)
        return row

    def _number(self, cell: str) -> float | None:
        return parse_number(cell, self._dialect.decimal_comma)


def _named(name: str, cell: str) -> Row:
    """A cell of text, where its column says something: a moment, or what the row belongs to."""
    if classify(name) is Signal.WALL_TIME:
        moment = parse_time(cell)
        return [] if moment is None else [(name, moment)]
    return [(name, cell)] if is_label(name) else []


def _layout(line: bytes, delimiter: str, columns: tuple[str, ...]) -> Layout | None:
    """The layout of a plain line, None where it holds what only a person would read."""
    separator = delimiter.encode()
    padding = b""
    framed = delimiter == "|" and line.lstrip().startswith(b"|")
    if framed and line.count(b"|") != len(columns) - 1:
        line, padding = line.strip()[1:].removesuffix(b"|"), b"|"
    cells = line.split() if delimiter == BLANK else line.split(separator)
    if len(cells) != len(columns):
        return None
    literals, slots = [padding], []
    labels: dict[str, str] = {}
    for name, cell in zip(columns, cells, strict=True):
        found = _PLAIN.fullmatch(cell)
        plain = found is not None and _is_plain(cell.strip())
        text = cell.decode("utf-8", "replace").strip()
        if is_run_name(name) or (is_label(name) and not plain):
            labels |= {} if is_not_logged(text) else {name: text}
            literals[-1] += cell + separator
            continue
        if not plain and not may_skip(name, text):
            return None
        if found and found[4] and plain:
            slots.append(name)
            literals.append(found[4] + separator)
        else:
            slots.append(name if plain else "")
            literals.append(separator)
    literals[-1] = literals[-1].removesuffix(separator) + padding
    return Layout(tuple(literals), tuple(slots), labels)


def _is_plain(text: bytes) -> bool:
    found = _PLAIN.fullmatch(text)
    return found is not None and (not found[2].isalpha() or found[2].lower() in _BULK_WORDS)
