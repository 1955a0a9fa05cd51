"""How a delimited file is written: its delimiter, its header, and whether it is a training log.

The header must name what a training logs, and the lines below must be rows of it. So a log in
prose, a table of text and a data set are declined, and a table pasted from a bug report is found
below its title.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from forensics.readers._tables.blocks import before_crash
from forensics.readers._tables.cells import is_not_logged, parse_number
from forensics.readers._tables.reshape import is_label, plain_name
from forensics.readers._tables.training import is_counter, is_history, is_training_table
from forensics.signals import Signal, classify

WIDE, BLANK = "  ", " "
"""Delimiters of aligned columns: two spaces or more (names may hold one), or any blanks."""

_DELIMITERS = (",", "\t", ";", "|", WIDE, BLANK)
_RULE = re.compile(r"[\s|+:=\-─━┼╇┿┏┓└┘├┤╞╪╡┴┬┌┐]*")
_IDENTIFIER = re.compile(r"[\w/.@%()\[\]#:-]*")
_MARKDOWN_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_BOXES = str.maketrans({"│": "|", "┃": "|", "║": "|"})
_MAX_NAME, _MAX_WORDS = 200, 5
_NO_NAME = re.compile(r"=|(?<!^Unnamed): |\|")
_TITLE_LINES = 30
_BODY_LINES = 100
_MIN_SHARE = 0.5  # of the lines below a header that must be rows of it
_DECIMAL_POINT = re.compile(r"[+-]?\d+\.\d+(?:[eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How one file is written."""

    delimiter: str
    columns: tuple[str, ...]
    header_line: int
    """0-based line number of the header, -1 where the file has none."""
    decimal_comma: bool = False
    guessed: bool = False
    """True where the columns were named by guess."""
    in_prose: bool = False
    """True for a Markdown table with other text around it."""


def split_cells(line: str, delimiter: str, width: int = 0) -> list[str]:
    """The cells of a line, stripped, quotes removed; bars may frame it, unless ``width`` fits."""
    if delimiter == BLANK:
        return line.split()
    if delimiter == WIDE:
        return [cell.strip() for cell in re.split(r"\s{2,}|\t", line.strip())]
    if delimiter == "|":
        line = line.translate(_BOXES).strip()
        if line.count("|") != width - 1:
            line = line.removeprefix("|").removesuffix("|")
    if '"' in line:
        return [cell.strip() for row in _quoted(line, delimiter) for cell in row]
    return [cell.strip() for cell in line.split(delimiter)]


def _quoted(line: str, delimiter: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader([line], delimiter=delimiter, skipinitialspace=True)
    except csv.Error:  # a cell of more than 128 KiB
        yield []


def is_rule(line: str) -> bool:
    """True for a blank line and for the rules that frame printed tables."""
    return _RULE.fullmatch(line) is not None


def is_header(cells: Sequence[str]) -> bool:
    """True where the cells are names of columns, and the columns are those of a training."""
    names = [cell for cell in cells if cell]
    if len(names) < 1 or len(names) < len(cells) - 1 or len(set(names)) < 0.5 * len(names):
        return False
    if any(len(name) > _MAX_NAME or _NO_NAME.search(name) for name in names):
        return False
    if any(len(plain_name(name).split()) > _MAX_WORDS for name in names):
        return False
    if any(parse_number(name) is not None or is_not_logged(name) for name in names):
        return False
    return is_training_table(plain_name(name) for name in names) or _is_long(names)


def _is_long(names: Sequence[str]) -> bool:
    """``step, tag, value``: the quantities are named in the rows."""
    lower = {name.lower() for name in names}
    return "value" in lower and any(map(is_counter, names)) and any(map(is_label, names))


def find_dialect(
    text: str, whole: bool, accept: Callable[[Sequence[str]], bool] = is_header
) -> Dialect | None:
    """The dialect of a file from its first lines; None where it is no table of a training.

    Args:
        text: The head of the file.
        whole: True where ``text`` is all of it, so that its last line is no fragment.
        accept: Tells a header from other lines.
    """
    lines = before_crash(text).splitlines()
    if len(lines) > 1 and not (whole and text.endswith("\n")):
        lines.pop()  # a fragment
    found = (_dialect_at(lines, number, accept) for number in _candidates(lines))
    return next(filter(None, found), None)


def _dialect_at(
    lines: Sequence[str], number: int, accept: Callable[[Sequence[str]], bool]
) -> Dialect | None:
    """The dialect of a table whose header is this line, None where it is no header."""
    line = lines[number].removeprefix("#").strip(" ")
    body = lines[number + 1 : number + 1 + _BODY_LINES]
    named = {d: cells for d in _DELIMITERS if accept(cells := header_cells(line, d))}
    if not named:
        return None
    shares = {d: _share(body, d, cells) for d, cells in named.items()}
    best = max(named, key=lambda d: (shares[d], sum(map(is_known, named[d]))))
    columns = named[best]
    whole = shares[best] >= _MIN_SHARE
    marked = bool(body) and best == "|" and _MARKDOWN_RULE.fullmatch(body[0]) is not None
    if not whole and not (marked and shares[best] > 0 and is_history(columns)):
        return None
    return Dialect(
        delimiter=best,
        columns=_completed(columns, body, best),
        header_line=number,
        decimal_comma=_has_comma(body, best),
        in_prose=not whole,
    )


def _candidates(lines: Sequence[str]) -> Iterator[int]:
    """Numbers of the lines that may be a header: early ones, and those above a Markdown rule."""
    seen = 0
    for number, line in enumerate(lines):
        if is_rule(line) or line.lstrip().startswith("#{"):
            continue
        seen += 1
        marked = number + 1 < len(lines) and _MARKDOWN_RULE.fullmatch(lines[number + 1])
        if seen <= _TITLE_LINES or marked:
            yield number


def header_cells(line: str, delimiter: str) -> list[str]:
    """The names in a header line, quotes removed."""
    return [cell.strip("' ") for cell in split_cells(line, delimiter)]


def is_known(name: str) -> bool:
    """True where the name of a column says what it holds."""
    return classify(name) is not Signal.OTHER


def _share(body: Sequence[str], delimiter: str, columns: Sequence[str]) -> float:
    """Share of the lines below a header that are rows of it.

    A header alone, of a run that died before its first row, must be no sentence.
    """
    lines = [line for line in body if not is_rule(line) and not line.lstrip().startswith("#")]
    rows = [split_cells(line, delimiter) for line in lines]
    rows = [cells for cells in rows if not all(map(is_not_logged, cells))]
    if not rows:
        return float(all(map(_IDENTIFIER.fullmatch, columns)))
    strict = delimiter in (WIDE, BLANK, "|")  # prose has blanks and bars, too
    return sum(_is_row(cells, len(columns), strict) for cells in rows) / len(rows)


def _is_row(cells: Sequence[str], width: int, strict: bool) -> bool:
    """True for cells with a number; ``strict``: about ``width``, and half of them numbers."""
    if len(cells) < min(2, width) or (strict and len(cells) > width + 1):
        return False
    logged = [cell for cell in cells if not is_not_logged(cell)]
    numbers = sum(parse_number(cell, decimal_comma=True) is not None for cell in logged)
    return numbers > 0 and (not strict or numbers >= 0.5 * len(logged))


def _completed(columns: list[str], body: Sequence[str], delimiter: str) -> tuple[str, ...]:
    """The columns, with a nameless first one where every row has one cell more (an index)."""
    rows = [split_cells(line, delimiter) for line in body if not is_rule(line)]
    rows = [cells for cells in rows if len(cells) > 1]
    longer = [cells for cells in rows if len(cells) == len(columns) + 1 and cells[-1]]
    return unique_names(["", *columns] if rows and len(longer) == len(rows) else columns)


def unique_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Names of columns, with a number behind a name that comes again."""
    seen: Counter[str] = Counter()
    unique = []
    for name in columns:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(unique)


def _has_comma(body: Sequence[str], delimiter: str) -> bool:
    """True where numbers are written with a decimal comma."""
    if delimiter == ",":
        return False
    cells = [cell for line in body for cell in split_cells(line, delimiter)]
    commas = sum(_DECIMAL_COMMA.fullmatch(cell) is not None for cell in cells)
    points = sum(_DECIMAL_POINT.fullmatch(cell) is not None for cell in cells)
    return commas > points
