"""Reads what spans several lines: boxes of ``| key | value |`` and tables under a header."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from forensics.readers._text.counters import Role
from forensics.readers._text.layout import MEASURED, Column, Kind, Layout
from forensics.readers._text.numerals import NUMBER, UNIT, scale_of
from forensics.readers._unprefixed import of_validation
from forensics.signals import Signal, classify

_RULE = re.compile(r"^[-=+|:\s]+$")
_CELL = re.compile(r"^\s*\|(?P<key>[^|]+)\|(?P<value>[^|]*)\|\s*$")
_NUMBER = re.compile(rf"^(?P<number>{NUMBER})(?P<unit>{UNIT})?(?:/\d+)?(?:\s*\([^)]*\))?$")
_VALIDATION = re.compile(r"(?i:^\d+\s*\((?:val|valid|validation|eval|test)\)$)")
_HEADER_WORD = re.compile(r"(?i:loss|step|epoch|iter|acc|idx|#)")
_BAR_TAIL = re.compile(r":\s+\d{1,3}%\s*[|━─╸].*$")
_SPLITS = (
    re.compile(r"\s*\|\s*"),
    re.compile(r"\t"),
    re.compile(r"\s*,\s*"),
    re.compile(r"\s{2,}"),
)
_BLANKS = re.compile(r"\s+")
_STEP_HEADS = frozenset({"#", "idx", "index", "i", "n", "it"})
_EPOCH_HEADS = frozenset({"e"})
_PATIENCE = 500  # lines of another kind after which a table is over
_LONGEST_HEADER = 400


@dataclass(frozen=True)
class BlockRow:
    """One row read from a block, not yet a row of a layout."""

    layout: Layout
    texts: tuple[str, ...]
    stamp: str | None = None


Cell = tuple[str, Role, str]
"""Tag, role and text of one cell."""


def _row(kind: Kind, cells: Sequence[Cell]) -> BlockRow | None:
    """A row of the cells that hold a number."""
    columns: list[Column] = []
    texts: list[str] = []
    for tag, role, cell in cells:
        match = _NUMBER.match(cell)
        counts = match is not None and scale_of(match["unit"] or "") is not None
        if match is not None and not (counts and classify(tag) is not Signal.MEMORY):
            columns.append(Column(tag, role))
            texts.append(match["number"])
    if not any(column.role is Role.VALUE for column in columns):
        return None
    return BlockRow(Layout(kind, tuple(columns)), tuple(texts))


@dataclass(eq=False)
class Box:
    """Follows boxes between rules, as OpenAI baselines and what descends from it print them."""

    _cells: list[Cell] = field(default_factory=list)
    _open: bool = False
    _prefix: str = ""

    def feed(self, line: str) -> tuple[bool, BlockRow | None]:
        """Look at a line; returns whether it belongs to a box, and the row that it ends."""
        match = _CELL.match(line)
        if match is None:
            finished = self._finish()
            self._open = _is_rule(line)
            return self._open, finished
        if not self._open:
            return False, None
        key, value = match["key"], match["value"].strip()
        name = key.strip()
        if name.endswith("/") and not value:
            self._prefix = name
            return True, None
        if self._prefix and not key.startswith("  "):
            self._prefix = ""
        self._cells.append((self._prefix + name, Role.VALUE, value))
        return True, None

    def close(self) -> BlockRow | None:
        """The row of a box that the end of the file cut short."""
        return self._finish()

    def _finish(self) -> BlockRow | None:
        cells, self._cells, self._prefix = self._cells, [], ""
        return _row(Kind.BOX, _with_counters(cells)) if len(cells) > 1 else None


def _with_counters(cells: list[Cell]) -> list[Cell]:
    """Name the cell that counts the steps and the one that counts the epochs."""
    signals = [classify(tag) for tag, _, _ in cells]
    steps = [k for k, signal in enumerate(signals) if signal is Signal.STEP]
    step = next((k for k in steps if "step" in cells[k][0].lower()), steps[0] if steps else None)
    epoch = next((k for k, signal in enumerate(signals) if signal is Signal.EPOCH), None)
    return [
        (tag, Role.GLOBAL if k == step else Role.EPOCH if k == epoch else role, cell)
        for k, (tag, role, cell) in enumerate(cells)
    ]


@dataclass(eq=False)
class HeadedTable:
    """Follows a table whose header names the columns: pasted Markdown, fastai, ultralytics."""

    _heads: tuple[tuple[str, Role], ...] = ()
    _split: re.Pattern[str] = _BLANKS
    _idle: int = 0
    _marks: tuple[int, ...] = ()
    """Columns that hold nothing but ``+``."""

    def feed(self, line: str) -> tuple[bool, BlockRow | None]:
        """Look at a line; returns whether it belongs to a table, and its row."""
        row = self._read(line) if self._heads else None
        if row is not None:
            self._idle = 0
            return True, row
        if self._heads and _is_rule(line):
            return True, None
        self._idle += 1
        if self._idle > _PATIENCE:
            self._heads = ()
        return self._is_header(line), None

    def _is_header(self, line: str) -> bool:
        if len(line) > _LONGEST_HEADER or not _HEADER_WORD.search(line):
            return False
        if "=" in line or ":" in line or any(c.isdigit() for c in line[:3]):
            return False
        for split in (*_SPLITS, _BLANKS):
            heads = _heads(_cells(line, split), strict=split is _BLANKS)
            if heads:
                self._heads, self._split, self._idle, self._marks = heads, split, 0, ()
                return True
        return False

    def _read(self, line: str) -> BlockRow | None:
        body = _BAR_TAIL.sub("", line)
        cells = _cells(body, self._split)
        if len(cells) != len(self._heads) and self._split is not _SPLITS[0]:
            cells = body.split()
        cells = self._with_marks(cells)
        if len(cells) != len(self._heads):
            return None
        named = [(tag, role, cell) for (tag, role), cell in zip(self._heads, cells, strict=True)]
        counted = [cell for _, role, cell in named if role is not Role.VALUE]
        if not all(cell[:1].isdigit() for cell in counted):
            return None
        if any(_VALIDATION.match(cell) for cell in counted):
            named = [
                (tag if role is not Role.VALUE else f"val {tag}", role, cell)
                for tag, role, cell in named
            ]
        return _row(Kind.KERAS if len(body) < len(line) else Kind.BOX, named)

    def _with_marks(self, cells: list[str]) -> list[str]:
        """The cells of a row with those that are blank where others hold ``+``: skorch's saves."""
        if len(cells) == len(self._heads):
            self._marks = self._marks or tuple(k for k, cell in enumerate(cells) if cell == "+")
        elif len(cells) + len(self._marks) == len(self._heads):
            for k in self._marks:
                cells.insert(k, "")
        return cells


def _is_rule(line: str) -> bool:
    return "---" in line and _RULE.match(line) is not None


def _cells(line: str, split: re.Pattern[str]) -> list[str]:
    text = line.strip()
    if split is _SPLITS[0]:
        text = text.removeprefix("|").removesuffix("|").strip()
    return [cell.strip().strip("*`") for cell in split.split(text)]


def _heads(cells: list[str], strict: bool) -> tuple[tuple[str, Role], ...]:
    """What the columns are; () where this is no header of a table of a run."""
    if len(cells) < 2 or not all(cell and len(cell.split()) <= 4 for cell in cells):
        return ()
    if any(_NUMBER.match(cell) for cell in cells):
        return ()
    cells = of_validation(cells)
    roles = [_role(cell) for cell in cells]
    signals = [classify(cell) for cell in cells]
    measured = sum(signal in MEASURED for signal in signals)
    counted = any(role is not Role.VALUE for role in roles)
    unknown = sum(
        s is Signal.OTHER and r is Role.VALUE for s, r in zip(signals, roles, strict=True)
    )
    if not measured or (unknown and (strict or not counted)):
        return ()
    if Role.GLOBAL in roles:  # a second counter is not asked
        first = roles.index(Role.GLOBAL)
        roles = [Role.VALUE if r is Role.GLOBAL and k != first else r for k, r in enumerate(roles)]
    return tuple(zip(cells, roles, strict=True))


def _role(head: str) -> Role:
    signal = classify(head)
    if signal is Signal.STEP or head.lower() in _STEP_HEADS:
        return Role.GLOBAL
    return Role.EPOCH if signal is Signal.EPOCH or head.lower() in _EPOCH_HEADS else Role.VALUE
