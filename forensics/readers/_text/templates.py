"""Reads lines fast that look like one already read.

``learn`` turns a line and its reading into a regular expression: names stay as they are, the
digits that were read become groups, all other digits and every run of blanks are left open. A
line that matches says the same as the first, so its numbers need no further thought.
"""

import re
from dataclasses import dataclass, field

from forensics.readers._text.counters import Role
from forensics.readers._text.grammar import LONGEST_READ
from forensics.readers._text.layout import Layout, Reading, Span

_ANY_NUMBER = r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_PIECE = re.compile(rf"{_ANY_NUMBER}|\s+|[^\d\s]+")
_BLANK = r"[^\S\n]"
_FIELD = "([-+.0-9a-zA-Z]+)"
_FIELD_WITH_COMMAS = "([-+.,0-9a-zA-Z]+)"


@dataclass(eq=False)
class Template:
    """A learned line and the rows of the current batch that look like it."""

    layout: Layout
    match: re.Pattern[str]
    match_all: re.Pattern[str]
    """The same for each line of a longer text."""
    stamped: bool
    """Whether the first group is the time stamp."""
    at: list[int] = field(default_factory=list)
    """Index in the batch of each row."""
    rows: list[tuple[str, ...]] = field(default_factory=list)
    uses: int = 0
    retired: bool = False
    """Whether it must not be used after this batch."""

    def take(self) -> tuple[list[int], list[tuple[str, ...]]]:
        """Hand over the collected rows and start anew."""
        at, rows = self.at, self.rows
        self.at, self.rows = [], []
        self.uses += len(at)
        return at, rows


def learn(line: str, reading: Reading) -> Template | None:
    """Make a template of a line; None where it would not read the line as it was read."""
    if not reading.learnable or len(line) > LONGEST_READ:
        return None
    parts = _parts(line, reading)
    pattern = re.compile(_pattern(line, parts, _kept(line, reading)))
    found = pattern.fullmatch(line)
    expected = [line[a:b] for a, b in reading.spans]
    if reading.stamp is not None:
        expected.insert(0, line[slice(*reading.stamp)])
    if found is None or list(found.groups()) != expected:
        return None
    whole = re.compile(f"^{pattern.pattern}$", re.MULTILINE)
    return Template(reading.layout, pattern, whole, reading.stamp is not None)


def _parts(line: str, reading: Reading) -> list[tuple[Span, str]]:
    """Where the template has a group or an open part, in order."""
    parts = list(reading.open_parts)
    for span, column in zip(reading.spans, reading.layout.columns, strict=True):
        text = line[slice(*span)]
        if column.role in (Role.COUNT, Role.GLOBAL, Role.TOTAL) and text.isdigit():
            parts.append((span, r"(\d+)"))
        else:
            parts.append((span, _FIELD_WITH_COMMAS if "," in text else _FIELD))
    if reading.stamp is not None:
        start, end = reading.stamp
        body = re.sub(r"\d+", r"\\d+", re.escape(line[start:end]).replace("\\ ", " "))
        parts.append((reading.stamp, f"({body})"))
    return sorted(parts)


def _kept(line: str, reading: Reading) -> list[bool]:
    """Shape (len(line),): True where a character belongs to a name."""
    kept = [False] * len(line)
    for start, end in reading.names:
        kept[start:end] = [True] * (end - start)
    return kept


def _pattern(line: str, parts: list[tuple[Span, str]], kept: list[bool]) -> str:
    pieces: list[str] = []
    position = 0
    for (start, end), group in [*parts, ((len(line), len(line)), "")]:
        pieces.append(_between(line, position, start, kept))
        pieces.append(group)
        position = max(position, end)
    return "".join(pieces) + f"{_BLANK}*"


def _between(line: str, start: int, end: int, kept: list[bool]) -> str:
    """The pattern of what stands between two groups."""
    pieces: list[str] = []
    for match in _PIECE.finditer(line, start, end):
        text, first, last = match[0], match.start(), match.end()
        if text.isspace():
            before = line[first - 1] if first else " "
            after = line[last] if last < len(line) else " "
            touching = before.isalnum() and (after.isdigit() or after in "-+.")
            optional = not touching and (after.isdigit() or after in "-+.")
            pieces.append(f"{_BLANK}*" if optional else f"{_BLANK}+")
        elif text[0].isdigit() and not kept[first]:
            pieces.append(_ANY_NUMBER)
        else:
            pieces.append(re.escape(text))
    return "".join(pieces)
