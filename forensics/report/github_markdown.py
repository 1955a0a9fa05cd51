"""Pieces of GitHub-flavoured Markdown in which nothing that comes from a run is markup."""

import re
from collections.abc import Iterable, Sequence

from forensics.report.wording import clean, one_line

_SPECIAL = re.compile(r"[\\`*\[\]<>&|~#$!]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_MENTION = re.compile(r"@(?=[A-Za-z0-9\[])")
_BULLET = re.compile(r"^(?=[-+]|\d+[.)] )")


def text(value: str, limit: int = 600) -> str:
    """Text in which nothing is markup: one line, no HTML, no mention, no issue reference."""
    safe = _SPECIAL.sub(lambda mark: "\\" + mark.group(), one_line(value, limit))
    # A word joiner after @ keeps people from being called to an issue about their run.
    safe = _MENTION.sub("@\u2060", safe.replace("\\<", "&lt;").replace("\\>", "&gt;"))
    safe = safe.replace("\\&", "&amp;")
    return _BULLET.sub("\\\\", safe)


def code(value: str, limit: int = 300) -> str:
    """A literal as a code span, safe inside a table."""
    flat = one_line(value, limit)
    if not flat:
        return ""
    fence = "`" * (max(map(len, re.findall("`+", flat)), default=0) + 1)
    space = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{space}{flat}{space}{fence}".replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def section(title: str, *parts: str) -> str:
    """A heading over the parts that say something; nothing where none does."""
    kept = [part for part in parts if part]
    return "\n\n".join([f"### {title}", *kept]) if kept else ""


def bullets(items: Sequence[str], shown: int) -> str:
    """The first items as a list, and how many more there are."""
    lines = [f"- {text(item)}" for item in items[:shown]]
    more = len(items) - shown
    return "\n".join([*lines, f"- … and {more:,} more"] if more > 0 else lines)


def prose(value: str) -> str:
    """A sentence in which pairs of backticks mark code."""
    pieces = value.split("`")
    if len(pieces) % 2 == 0 or len(pieces) > 41:
        return text(value)
    spans = [code(p) if n % 2 else _padded(p) for n, p in enumerate(pieces)]
    return "".join(spans)


def _padded(piece: str) -> str:
    """Text between two code spans keeps the blanks at its ends."""
    left = " " if piece[:1].isspace() else ""
    right = " " if piece[-1:].isspace() and piece.strip() else ""
    return f"{left}{text(piece)}{right}"


def block(value: str) -> str:
    """Lines of code in a fence longer than any in them."""
    body = "\n".join(clean(line)[:300] for line in value.splitlines()[:40])
    fence = "`" * max(3, max(map(len, re.findall("`+", body)), default=0) + 1)
    return f"{fence}\n{body}\n{fence}"


def folded(title: str, body: str) -> str:
    """A body behind a title to click."""
    return f"<details><summary>{text(title)}</summary>\n\n{body}\n\n</details>"
