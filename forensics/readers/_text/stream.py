"""Reads a log as it streams by: fast where lines repeat, with thought where they do not.

Each batch of lines is first matched against the templates learned so far; what no template
matches is looked at one by one by every grammar, and teaches another template where it can.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from forensics.readers._text.blocks import BlockRow, Box, HeadedTable
from forensics.readers._text.counters import Role
from forensics.readers._text.events import Events
from forensics.readers._text.grammar import Kind, Layout, Reading, read_line
from forensics.readers._text.headers import Headers
from forensics.readers._text.lines import Batch
from forensics.readers._text.masks import strip_prefix
from forensics.readers._text.numerals import tail_of
from forensics.readers._text.overflow import Overflows
from forensics.readers._text.rows import Store
from forensics.readers._text.templates import Template, learn

_MOST_TEMPLATES = 96
_MOST_DULL = 20_000
_DIGITS = re.compile(r"\d+")
_GLUED = re.compile(
    r"(?<=\S)(?=\[(?:rank|default)\d+\]:?\s)"  # another rank broke in
    r"|(?<=it/s\])(?=\S)|(?<=s/it\])(?=\S)|(?<=\])(?=\{['\"])|(?<=\})\s*(?=\d{1,3}%\|)"  # a bar
)
_LAST_NUMBER = re.compile(r"\d[\d.,]*(?:[eE][-+]?\d*)?$")
_CUT_NUMBER = re.compile(r"[\d,.eE+-]*\s*$")
_SUMMARY = re.compile(
    r"^\W*\*{3,} (?:train|training|eval\w*|test|predict\w*) (?:metrics|results)\W*$"
)
_SUMMARY_LINE = re.compile(r"^\s*[\w/@ .-]+?\s*=\s*\S+\s*$")


@dataclass(eq=False)
class Stream:
    """Everything read so far."""

    store: Store = field(default_factory=Store)
    events: Events = field(default_factory=Events)
    overflows: Overflows = field(default_factory=Overflows)
    headers: Headers = field(default_factory=Headers)
    count: int = 0
    """Lines seen, repaints counted."""
    rows: int = 0
    first_row: int | None = None
    """Place of the first line that logged something besides a bar."""
    _templates: list[Template] = field(default_factory=list)
    _dull: set[str] = field(default_factory=set)
    """Lines without their digits that logged nothing."""
    _box: Box = field(default_factory=Box)
    _table: HeadedTable = field(default_factory=HeadedTable)
    _in_summary: bool = False
    _uniform: bool = False
    """Whether nearly all lines of the last batch were known."""

    def feed(self, batch: Batch) -> None:
        """Read the next lines."""
        texts = batch.texts if batch.ended else batch.texts[:-1]
        self._templates.sort(key=lambda template: -template.uses)
        known = len(self._templates)
        pending = [] if self._match_all(batch) else self._match(texts)
        self.events.expect("\n".join([texts[k] for k in pending]))
        for k in pending:
            self._read(texts[k], batch.numbers[k], k, known)
        self._flush()
        if not batch.ended and batch.texts:
            self._read_cut(batch.texts[-1], batch.numbers[-1], self.count + len(texts))
        self.count += len(batch.texts)

    def close(self) -> None:
        """End what the end of the file cut short."""
        self.headers.close()
        row = self._box.close()
        if row is not None:
            self._add_block(row, self.count)

    def _match_all(self, batch: Batch) -> bool:
        """Read all lines at once where they are all of the make that is usual in this file."""
        usual = self._templates[0] if self._templates and self._uniform else None
        if usual is None or batch.body is None:
            return False
        rows = usual.match_all.findall(batch.body)
        if len(rows) != len(batch.texts):
            return False
        usual.at = list(range(len(rows)))
        usual.rows = rows if usual.match_all.groups > 1 else [(row,) for row in rows]
        return True

    def _match(self, texts: list[str]) -> list[int]:
        """Read what the templates know; returns the indices of all other lines."""
        pending = list(range(len(texts)))
        for template in self._templates:
            if not pending:
                break
            matches = list(map(template.match.fullmatch, [texts[k] for k in pending]))
            template.at += [k for k, match in zip(pending, matches, strict=True) if match]
            template.rows += [match.groups() for match in matches if match]
            pending = [k for k, match in zip(pending, matches, strict=True) if not match]
        self._uniform = len(pending) < 0.01 * len(texts)
        return pending

    def _read(self, text: str, number: int, k: int, known: int) -> None:
        """Read one line that no template knew at the beginning of the batch."""
        if not text or text.isspace():
            return
        for template in self._templates[known:]:
            match = template.match.fullmatch(text)
            if match:
                template.at.append(k)
                template.rows.append(match.groups())
                return
        if "[rank" in text or "[default" in text or "%|" in text:
            for part in _GLUED.split(text):
                self._read_alone(part, number, k)
        else:
            self._read_alone(text, number, k)

    def _read_alone(self, text: str, number: int, k: int) -> None:
        at = self.count + k
        skeleton = _DIGITS.sub("0", text)
        watched = self.events.in_traceback or self.headers.in_block or self._in_summary
        if skeleton in self._dull and not watched:
            return
        kinds = self.events.feed(text, number, at)
        if self.overflows.feed(text, number, at):
            return
        if self._summary(text) or self._block(text, at):
            return
        message = strip_prefix(text)
        if self.headers.feed(message, number, at):
            return
        reading = read_line(text)
        if reading is None:
            plain = self.headers.feed_dict(message, number, at) or (
                self.first_row is None and self.headers.feed_plain(message, number, at)
            )
            watched = watched or self.events.in_traceback or self.headers.in_block
            if not (plain or kinds or watched) and len(self._dull) < _MOST_DULL:
                self._dull.add(skeleton)
            return
        if kinds and not reading.layout.measures:
            return
        template = None if kinds else learn(text, reading)
        if template is not None and len(self._templates) < _MOST_TEMPLATES:
            self._templates.append(template)
        self._add(text, reading, at)

    def _summary(self, text: str) -> bool:
        """HF's final block: what a run came to, not something it logged at a step."""
        if _SUMMARY.match(text):
            self._in_summary = True
            return True
        self._in_summary = self._in_summary and _SUMMARY_LINE.match(text) is not None
        return self._in_summary

    def _block(self, text: str, at: int) -> bool:
        for grammar in (self._box, self._table):
            taken, row = grammar.feed(text)
            if row is not None:
                self._add_block(row, at)
            if taken:
                return True
        return False

    def _add_block(self, row: BlockRow, at: int) -> None:
        self.store.add(row.layout, [at], [[text] for text in row.texts])
        self._saw(at)

    def _add(self, text: str, reading: Reading, at: int) -> None:
        columns = [[text[a:b]] for a, b in reading.spans]
        stamp = [text[slice(*reading.stamp)]] if reading.stamp is not None else None
        self.store.add(reading.layout, [at], columns, stamp)
        if reading.layout.kind is not Kind.BAR:
            self._saw(at)
        self.rows += 1

    def _saw(self, at: int) -> None:
        self.first_row = at if self.first_row is None else min(self.first_row, at)
        self.rows += 1

    def _flush(self) -> None:
        """Hand the rows that templates matched over to the store."""
        for template in self._templates:
            at, rows = template.take()
            if not at:
                continue
            columns = list(zip(*rows, strict=True))
            stamps = columns.pop(0) if template.stamped else None
            places = [self.count + k for k in at]
            try:
                self.store.add(template.layout, places, columns, stamps)
            except ValueError:
                self._add_singly(template, places, rows)
            if template.layout.kind is not Kind.BAR:
                self._saw(places[0])
            self.rows += len(at)

    def _add_singly(self, template: Template, at: list[int], rows: list[tuple[str, ...]]) -> None:
        """Some row is not made of numbers after all: leave that one out."""
        for place, row in zip(at, rows, strict=True):
            texts = row[1:] if template.stamped else row
            try:
                stamps = [row[0]] if template.stamped else None
                self.store.add(template.layout, [place], [[text] for text in texts], stamps)
            except ValueError:
                continue

    def _read_cut(self, text: str, number: int, at: int) -> None:
        """Read the last line of a file that ends without a line break: it may be cut anywhere."""
        sure = _LAST_NUMBER.sub("", text)
        self.events.feed(sure, number, at)
        if self.overflows.feed(sure, number, at) or self._in_summary:
            return
        taken, row = self._table.feed(text)
        if row is not None and text.rstrip().endswith(row.texts[-1]):
            self._add_sure(row.layout, row.texts, len(row.texts) - 1, at)
        elif row is not None:
            self._add_block(row, at)
        if taken or self.headers.feed(strip_prefix(sure), number, at):
            return
        reading = read_line(text)
        if reading is None:
            if self.first_row is None:
                self.headers.feed_plain(strip_prefix(sure), number, at)
            return
        last = max(range(len(reading.spans)), key=lambda k: reading.spans[k][1])
        if _CUT_NUMBER.match(text, reading.spans[last][1]):
            self._add_sure(reading.layout, [text[a:b] for a, b in reading.spans], last, at)
        else:
            self._add(text, reading, at)

    def _add_sure(self, layout: Layout, texts: Sequence[str], last: int, at: int) -> None:
        """Add a row but for the number at the very end, unless that is seen to be whole.

        That it is can be told by its decimals, or by its being no digits at all (nan).
        """
        tail = tail_of(texts[last])
        fixed = tail and set(self.store.tails(layout, last)) == {tail}
        columns, kept = list(layout.columns), list(texts)
        if not texts[last].isalpha() and (not fixed or layout.kind is Kind.BAR):
            kept.pop(last)
            if columns.pop(last).role is not Role.VALUE:
                return
        if any(column.role is Role.VALUE for column in columns):
            self._add_block(BlockRow(Layout(layout.kind, tuple(columns)), tuple(kept)), at)
