"""A short diagnosis for the terminal: one screen of 80 by 30, in plain ASCII where need be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from forensics.report import sparkline
from forensics.report.names import Tone
from forensics.report.view import Clue, Page, build_page
from forensics.report.wording import NBSP, listing, number, one_line
from forensics.verdict import Verdict

LINES = 26
"""Leaves room in 30 lines for the prompt and for where the report was written."""
WIDEST = 100
_LABEL = 14
_STYLES = {Tone.BAD: "red", Tone.WARN: "yellow", Tone.GOOD: "green", Tone.NEUTRAL: "cyan"}
_ASCII = str.maketrans(
    {
        "→": "->",
        "…": "...",
        "–": "-",
        "—": "-",
        "×": "x",
        "·": "-",
        "‘": "'",
        "’": "'",
        NBSP: " ",
        "σ": "sigma",
        "√": "sqrt ",
        "\u0302": "hat",
    }
)


@dataclass(frozen=True)
class Row:
    """One labelled paragraph."""

    label: str
    text: str
    most: int
    """Lines it may take; what is longer ends in an ellipsis."""
    need: int
    """Rows of the highest number go first where the screen is too small."""
    style: str = ""


def show(verdict: Verdict, console: Console) -> None:
    """Print the diagnosis; colours only where ``console`` is a terminal."""
    page = build_page(verdict)
    width = min(console.width, WIDEST)
    fancy = can_show(console, "▁█→…×")
    rows = [row for row in _rows(verdict, page, width, fancy) if row.text]
    tone = _STYLES[page.head.outcome.tone]
    _print(console, Text(f" {page.head.outcome.text} ", style=f"bold reverse {tone}"), page, fancy)
    for label, text, style in _fitted(rows, console, width, fancy):
        line = Text(label.ljust(_LABEL) if label or style != "bold" else "", style="dim")
        console.print(line.append(text, style=style), no_wrap=True, crop=False, highlight=False)


def _print(console: Console, badge: Text, page: Page, fancy: bool) -> None:
    name = plain_text(one_line(page.head.run, 60), console, fancy)
    console.print(badge.append(f"  {name}", style="not bold not reverse dim"), highlight=False)


def _rows(verdict: Verdict, page: Page, width: int, fancy: bool) -> Iterator[Row]:
    head = page.head
    yield Row("", head.sentence, 4, 0, "bold")
    yield Row("loss", _spark(verdict, width) if fancy else "", 1, 6)
    if head.diagnosis is not None:
        first = head.diagnosis
        text = f"{first.title}, {first.probability}, {first.status.text}"
        yield Row("diagnosis", text, 1, 0, f"bold {_STYLES[first.status.tone]}")
    for it in page.hypotheses.in_full[:1]:
        yield from _clues("for", it.supporting[:3], need=3)
        yield from _clues("against", it.opposing[:2], need=4)
        yield Row("unchecked", " ".join(it.unchecked.shown[:2]), 2, 8)
    if page.replay is not None:
        yield Row("replay", page.replay.brief, 2, 1)
        for failure in page.replay.failures.shown[:1]:
            yield Row("", failure, 4, 1)
    rest = page.hypotheses.in_full[1:]
    yield Row("or else", listing([f"{it.title} {it.probability}" for it in rest]), 2, 5)
    yield from _todo(page)
    others = [f"{run.name} ({run.outcome.text.lower()})" for run in page.other_runs.shown[:4]]
    yield Row("other runs", ", ".join(others), 2, 9)
    for warning in page.warnings.shown[:1]:
        count = page.warnings.total.partition(" ")[0]
        yield Row("warnings", warning if count == "1" else f"{count}, the first: {warning}", 2, 4)


def _todo(page: Page) -> Iterator[Row]:
    onset = page.head.facts[0]
    if onset.note or onset.value != "none":
        yield Row("onset", onset.value + (f" ({onset.note})" if onset.note else ""), 2, 1)
    todo = page.actions
    where = f"{todo.resume} ({todo.resume_step})" if todo.resume_step else todo.resume
    without = "keep" if todo.resume_title.startswith("Keep") else "resume"
    yield Row(todo.resume_title.lower() if where else without, where or todo.reason, 3, 0)
    if todo.optimizer:
        yield Row("optimizer", f"{todo.optimizer_title}. {todo.optimizer}", 2, 2)
    changes = [f"{row.setting} {row.before} → {row.after}" for row in todo.changes]
    yield Row("change", ", ".join(changes), 3, 0)
    yield Row("skip", f"{todo.skip_unit} {todo.skip}" if todo.skip else "", 1, 1)
    for it in page.hypotheses.in_full[:1]:
        yield Row("to settle it", " ".join(it.verify.split()).replace("`", ""), 3, 7)


def _clues(label: str, clues: Sequence[Clue], need: int) -> Iterator[Row]:
    for place, clue in enumerate(clues):
        yield Row(label if place == 0 else "", f"{clue.text} ({clue.strength})", 2, need + place)


def _spark(verdict: Verdict, width: int) -> str:
    track = sparkline.shown_track(verdict.case)
    if track is None:
        return ""
    ends = f"{number(float(track.value[0]), 3)} → {number(float(track.value[-1]), 3)}"
    room = max(width - _LABEL - len(ends) - 4, 8)
    return f"{sparkline.sparkline(track.value, room)}  {ends}"


def _fitted(
    rows: Sequence[Row], console: Console, width: int, fancy: bool
) -> Iterator[tuple[str, str, str]]:
    """Wrap the rows and leave out the least needed ones until they fit the screen."""
    wrapped = [(row, _wrap(row, console, width, fancy)) for row in rows]
    while sum(len(lines) for _, lines in wrapped) > LINES:
        wrapped.remove(max(wrapped, key=lambda item: item[0].need))
    for row, lines in wrapped:
        for place, line in enumerate(lines):
            yield row.label if place == 0 else "", line, row.style


def _wrap(row: Row, console: Console, width: int, fancy: bool) -> list[str]:
    text = plain_text(one_line(row.text, 1500), console, fancy)
    room = width if row.label == "" and row.style == "bold" else width - _LABEL
    lines = [line.plain.rstrip() for line in Text(text).wrap(console, max(room, 20))]
    if len(lines) > row.most:
        dots = "…" if fancy else "..."
        lines = [*lines[: row.most - 1], lines[row.most - 1][: room - len(dots)].rstrip() + dots]
    return lines


def plain_text(text: str, console: Console, fancy: bool) -> str:
    """What the terminal's encoding can show; other characters are spelled out."""
    text = text if fancy else text.translate(_ASCII)
    return text.encode(console.encoding, "backslashreplace").decode(console.encoding)


def can_show(console: Console, symbols: str) -> bool:
    """True where the terminal's encoding has all of these."""
    try:
        symbols.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return not console.legacy_windows
