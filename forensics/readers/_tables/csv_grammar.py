"""Reads the lines of a delimited file one by one, with everything that goes wrong in them."""

import re
from collections import Counter

from forensics.readers._tables.cells import is_not_logged, parse_number, parse_time, parse_total
from forensics.readers._tables.dialect import BLANK, WIDE, Dialect, is_header, is_rule, split_cells
from forensics.readers._tables.layouts import Layout, may_skip
from forensics.readers._tables.lines import Row
from forensics.readers._tables.reshape import is_label, is_run_name
from forensics.signals import Signal, classify

_LONGEST_CELL = 1 << 16  # a quote that is not closed within it is no quote
_PLAIN = re.compile(rb"(\s*)([+-]?[\d.]*(?:[eE][+-]?\d+)?|[+-]?[A-Za-z]{2,8}|-)(\s*)(%|/\d+)?(\s*)")
_BULK_WORDS = frozenset(b"nan inf infinity null none na true false".split())
_COUNTER = frozenset({Signal.STEP, Signal.EPOCH})


class CsvGrammar:
    """See `forensics.readers._tables.lines.Grammar`."""

    def __init__(self, dialect: Dialect) -> None:
        self.decimal_point = b"," if dialect.decimal_comma else b"."
        self.generation = 0
        self.open = False
        self.counts: Counter[str] = Counter()
        """How often each irregularity was met: repeated, long, cut, unreadable."""
        self.total_steps: int | None = None
        self._dialect = dialect
        self._columns = dialect.columns
        self._line = -1
        self._kept = ""

    def read(self, line: bytes, finished: bool) -> list[Row]:
        """See `forensics.readers._tables.lines.Grammar`."""
        self._line += 1
        if self._line <= self._dialect.header_line:
            return []
        text = self._joined(line.decode("utf-8", "replace").replace("\0", "").rstrip("\r\n"))
        if text is None or is_rule(text) or text.lstrip().startswith("#"):
            return []
        cells = split_cells(text, self._dialect.delimiter)
        if not self._is_data(cells):
            return []
        if not finished and len(cells) <= len(self._columns):
            self.counts["cut"] += 1
            cells = cells if len(cells) == len(self._columns) else cells[:-1]
        row = self._row(cells)
        return [] if row is None else [row]

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

    def _is_data(self, cells: list[str]) -> bool:
        """False for lines of no numbers: a header again, a new header, or words."""
        if any(parse_number(cell) is not None or is_not_logged(cell) for cell in cells):
            return True
        if tuple(cells) == self._columns or set(cells) == set(self._columns):
            self.counts["repeated"] += 1
        if is_header(cells) and tuple(cells) != self._columns:
            self._columns = tuple(cells)
            self.generation += 1
        elif tuple(cells) != self._columns:
            self.counts["unreadable"] += 1
        return False

    def _row(self, cells: list[str]) -> Row | None:
        """The named cells; empty where nothing was logged, None where its place is unreadable."""
        if len(cells) > len(self._columns) and any(cells[len(self._columns) :]):
            self.counts["long"] += 1
        row: Row = []
        for name, cell in zip(self._columns, cells, strict=False):
            number = parse_number(cell, self._dialect.decimal_comma)
            if number is not None and not is_run_name(name):
                row.append((name, number))
            elif not is_not_logged(cell):
                if classify(name) in _COUNTER:  # a row whose place cannot be read has no place
                    self.counts["unreadable"] += 1
                    return None
                row += _named(name, cell)
        if self.total_steps is None:
            self.total_steps = next(filter(None, map(parse_total, cells)), None)
        return row


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
    if delimiter == "|" and line.lstrip().startswith(b"|"):
        line, padding = line.strip()[1:].removesuffix(b"|"), b"|"
    cells = line.split() if delimiter == BLANK else line.split(separator)
    if len(cells) != len(columns):
        return None
    literals, slots, labels = [padding], [], {}
    for name, cell in zip(columns, cells, strict=True):
        text = cell.strip()
        if is_label(name) and text and (is_run_name(name) or not _is_plain(text)):
            labels[name] = text.decode("utf-8", "replace")
            literals[-1] += cell + separator
            continue
        found = _PLAIN.fullmatch(cell)
        plain = found is not None and _is_plain(text)
        if not plain and not may_skip(name, text.decode("utf-8", "replace")):
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
