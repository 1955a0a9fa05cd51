"""Reads one line with every grammar there is."""

import re
from dataclasses import dataclass, field

from forensics.readers._text.blocks import BlockRow, Box, HeadedTable
from forensics.readers._text.events import Events
from forensics.readers._text.fast import Fast
from forensics.readers._text.grammar import LONGEST_READ, as_validation, read_line
from forensics.readers._text.headers import Headers
from forensics.readers._text.layout import Kind, Reading
from forensics.readers._text.loss_parts import LossParts
from forensics.readers._text.masks import strip_prefix
from forensics.readers._text.overflow import Overflows
from forensics.readers._text.rows import Store

_MOST_DULL = 20_000
_LONGEST_DULL = 400
_DIGITS = re.compile(r"\d+")
_GLUED = re.compile(
    r"(?<=\S)(?=\[(?:rank|default)\d+\]:?\s)"  # another rank broke in
    r"|(?<=it/s\])(?=\S)|(?<=s/it\])(?=\S)|(?<=\])\s*(?=\{['\"])|(?<=\})\s*(?=\d{1,3}%\|)"  # a bar
    r"|(?<=[\d?]\])\s*(?=\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2})"  # a logger after a bar
)
_SUMMARY = re.compile(
    r"^[^\w*]*\*{3,} (?:train|training|eval\w*|test|predict\w*) (?:metrics|results)\W*$"
)
_SUMMARY_LINE = re.compile(r"^\s*+[\w/@.-]++(?: [\w/@.-]++)*+\s*+=\s*+\S++\s*$")
_HEADING = re.compile(
    r"(?i:^\W*+(?:running |start(?:ing)? |begin(?:ning)? )?(?P<mode>train|test|valid|eval)\w*\b"
    r"[^.=]{0,40}?(?::|\*{3,}|={3,}|-{3,}|\.{3})\s*$)"
)


@dataclass(eq=False)
class Slow:
    """Every grammar, with what each has found."""

    fast: Fast = field(default_factory=Fast)
    store: Store = field(default_factory=Store)
    events: Events = field(default_factory=Events)
    overflows: Overflows = field(default_factory=Overflows)
    headers: Headers = field(default_factory=Headers)
    table: HeadedTable = field(default_factory=HeadedTable)
    box: Box = field(default_factory=Box)
    parts: LossParts = field(default_factory=LossParts)
    first_row: int | None = None
    """Place of the first line that logged something besides a bar."""
    in_summary: bool = False
    """Within HF's final block: what a run came to, not something it logged at a step."""
    heading: str | None = None
    """'valid' and the like below such a heading; None where there was no heading yet."""
    _dull: set[str] = field(default_factory=set)
    """Lines without their digits that logged nothing."""

    def read(self, text: str, number: int, at: int) -> None:
        """Read a physical line, ``number``, or a repaint of it; ``at`` is its place in the file."""
        text = text[:LONGEST_READ]
        if "[rank" in text or "[default" in text or "%|" in text:
            for part in _GLUED.split(text):
                self._read(part, number, at)
        else:
            self._read(text, number, at)

    def _read(self, text: str, number: int, at: int) -> None:
        skeleton = _DIGITS.sub("0", text)
        if skeleton in self._dull and not self._watches():
            return
        kinds = self.events.feed(text, number, at)
        parts = self.parts.feed(text, kinds)
        if parts is not None:
            self.add_block(parts, at)
            return
        if self.overflows.feed(text, number, at) or self._below(text) or self._block(text, at):
            return
        reading = read_line(text) if self.headers.in_block else None
        if reading is not None and reading.layout.counts and reading.layout.measures:
            self.headers.close()  # a dump that was never finished
        message = strip_prefix(text)
        if self.headers.feed(message, number, at):
            return
        reading = read_line(text)
        if reading is None:
            if not self._setting(message, number, at) and not kinds and not self._watches():
                self._remember(skeleton)
        elif not kinds or reading.layout.measures:
            self._take(text, reading, at, learn=not kinds)

    def _watches(self) -> bool:
        """Whether the next line may mean something whatever it looks like."""
        told = self.headers.in_block or self.parts.expected
        return self.events.in_traceback or told or self.in_summary

    def _remember(self, skeleton: str) -> None:
        if len(self._dull) < _MOST_DULL and len(skeleton) < _LONGEST_DULL:
            self._dull.add(skeleton)

    def _setting(self, message: str, number: int, at: int) -> bool:
        return self.headers.feed_dict(message, number, at) or (
            self.first_row is None and self.headers.feed_plain(message, number, at)
        )

    def _below(self, text: str) -> bool:
        """Look for headings and HF's final block; returns whether the line is part of them."""
        if _SUMMARY.match(text):
            self.in_summary = True
        else:
            self.in_summary = self.in_summary and _SUMMARY_LINE.match(text) is not None
        heading = None if self.in_summary else _HEADING.match(text)
        if heading is not None:
            if self.heading is None:
                self.fast.forget_uncounted()
            self.heading = heading["mode"].lower()
        return self.in_summary or heading is not None

    def _block(self, text: str, at: int) -> bool:
        for grammar in (self.box, self.table):
            taken, row = grammar.feed(text)
            if row is not None:
                self.add_block(row, at)
            if taken:
                return True
        return False

    def add_block(self, row: BlockRow, at: int) -> None:
        """Add a row that no template should learn from."""
        stamps = [row.stamp] if row.stamp is not None else None
        self.store.add(row.layout, [at], [[text] for text in row.texts], stamps)
        self.saw(None if row.layout.kind is Kind.BAR else at)

    def _take(self, text: str, reading: Reading, at: int, learn: bool) -> None:
        """Add what a line logs."""
        if reading.layout.counts:
            self.heading = self.heading and "train"
        elif self.heading not in (None, "train"):
            reading = as_validation(reading)
        if learn and (reading.layout.counts or self.heading is None):
            self.fast.learn(text, reading)
        columns = [[text[a:b]] for a, b in reading.spans]
        stamp = [text[slice(*reading.stamp)]] if reading.stamp is not None else None
        self.store.add(reading.layout, [at], columns, stamp)
        self.saw(None if reading.layout.kind is Kind.BAR else at)

    def saw(self, first: int | None) -> None:
        """Note that rows were added, the first of them that is no bar at ``first``."""
        if first is not None:
            self.first_row = first if self.first_row is None else min(self.first_row, first)
