"""Reads lines of JSON one by one, and learns the layout of those that are alike."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from forensics.readers._tables.cells import is_not_logged, parse_total
from forensics.readers._tables.json_rows import flat_row, is_settings
from forensics.readers._tables.layouts import Layout, may_skip
from forensics.readers._tables.lines import Row
from forensics.readers._tables.remarks import MOST, Remark
from forensics.readers._tables.reshape import is_label, is_run_name
from forensics.signals import Signal, classify

_TOKEN = re.compile(rb'\s*("(?:[^"\\]|\\.)*"|[-+\w.]+|[{}\[\],:])')
_PLAIN_TEXT = re.compile(
    r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(/\d+)?|[+-]?(?:nan|inf|infinity)", re.I
)
_MAX_NESTING = 4


class JsonLinesGrammar:
    """See `forensics.readers._tables.lines.Grammar`."""

    decimal_point = b"."
    generation = 0
    open = False

    def __init__(self) -> None:
        self.damaged = 0
        """Lines that are no JSON."""
        self.settings: dict[str, Any] = {}
        """What stood before the first row."""
        self.remarks: list[Remark] = []
        """Lines that are no JSON; their numbers hold where every line was read singly."""
        self._started = False
        self._line = self._count = 0

    def read(self, line: bytes, finished: bool) -> list[Row]:
        """See `forensics.readers._tables.lines.Grammar`."""
        self._line += 1
        text = line.decode("utf-8", "replace").strip("\ufeff\0 \t\r,")
        if not text:
            return []
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            self.damaged += 1
            if len(self.remarks) < MOST:
                self.remarks.append(Remark(self._line, self._count, text))
            return []
        rows = list(self._rows(value))
        self._count += len(rows)
        return rows

    def _rows(self, value: Any) -> Iterator[Row]:
        """One row of an object; one of each of a list of objects (ClearML)."""
        if isinstance(value, list):
            for item in value:
                if isinstance(item, Mapping):
                    yield from self._rows(item)
            return
        if not isinstance(value, Mapping):
            self.damaged += 1
            return
        if len(value) == 1 and isinstance(value.get("event"), Mapping):
            value = value["event"]
        if not self._started and is_settings(value):
            self.settings |= value
            return
        if not self._started:
            self.settings |= _totals(value)
        self._started = True
        yield flat_row(value)

    def layout(self, line: bytes) -> Layout | None:
        """See `forensics.readers._tables.lines.Grammar`."""
        if b"\\" in line or b"[" in line or b"\0" in line or not line.lstrip().startswith(b"{"):
            return None
        return _layout(line.rstrip(b"\r\n"))


def _totals(row: Mapping[str, Any]) -> dict[str, Any]:
    """The planned number of steps, which some loggers repeat in each row."""
    for key, value in row.items():
        if classify(key) is Signal.TOTAL_STEPS and isinstance(value, int):
            return {"max_steps": value}
        if isinstance(value, str) and classify(key) is Signal.STEP and parse_total(value):
            return {"max_steps": parse_total(value)}
    return {}


def _layout(line: bytes) -> Layout | None:
    """The layout of a line of plain objects, None where only a parser can read it."""
    slots, edges = [], [0]
    labels: dict[str, str] = {}
    for name, start, end in _values(line):
        quoted = line[start : start + 1] == b'"'
        start, end = (start + 1, end - 1) if quoted else (start, end)
        text = line[start:end].decode("utf-8", "replace")
        found = _PLAIN_TEXT.fullmatch(text) if quoted else None
        if is_run_name(name) or (quoted and is_label(name) and not found):
            if not (quoted or text.isdigit() or text == "null"):
                return None
            labels |= {} if is_not_logged(text) else {name: text}
            continue
        if quoted and not found and text and not may_skip(name, text):
            return None
        slots.append(name if not quoted or found or not text else "")
        edges += [start, end - len(found[1] or "") if found else end]
    edges.append(len(line))
    names = [*filter(None, slots), *labels]
    if len(set(names)) < len(names) or not slots:
        return None
    literals = [line[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return Layout(tuple(literals), tuple(slots), labels)


def _values(line: bytes) -> Iterator[tuple[str, int, int]]:
    """Name, start and end of each value of a line that is known to be a JSON object."""
    path: list[str] = []
    key = ""
    is_key = True
    for token in _TOKEN.finditer(line):
        mark = token[1]
        if mark == b"{":
            path.append(key)
            is_key = True
        elif mark == b"}":
            path.pop()
        elif mark in (b":", b","):
            is_key = mark == b","
        elif is_key:
            key = mark[1:-1].decode("utf-8", "replace")
        elif len(path) <= _MAX_NESTING + 1:
            yield "/".join((*path[1:], key)), token.start(1), token.end(1)
