"""A replay for the terminal: what each experiment gave, in plain ASCII where need be."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forensics.report.names import Tone
from forensics.report.terminal_report import WIDEST, can_show, plain_text
from forensics.report.view import Folded, Replay, replay
from forensics.report.wording import one_line
from forensics.verdict import Verdict

_STYLES = {Tone.BAD: "red", Tone.WARN: "yellow", Tone.GOOD: "green", Tone.NEUTRAL: "cyan"}
_LABEL = 16


def show(verdict: Verdict, console: Console) -> None:
    """Print the replay of a verdict; nothing where nothing was replayed."""
    told = replay(verdict.case.replay, verdict.hypotheses)
    if told is None:
        return
    console.width = min(console.width, WIDEST)
    printer = _Printer(console)
    printer.paragraph(f"{told.lede} {told.alignment}".replace("`", ""))
    printer.heading("What it settles")
    printer.table((), ((item.label, item.text) for item in told.conclusions), _tones(told))
    for title, head, rows in _tables(told):
        printer.heading(title)
        printer.table(head, rows)
    for title, items in (
        ("What went wrong in the replay", told.failures),
        ("What was left out, and why", told.left_out),
    ):
        printer.list(title, items)


def _tones(told: Replay) -> list[str]:
    return [_STYLES[item.tone] for item in told.conclusions]


_Rows = Sequence[Sequence[str]]


def _tables(told: Replay) -> Iterator[tuple[str, Sequence[str], _Rows]]:
    """Title, headings and rows of every table that has any."""
    changes = [
        (row.setting, row.before, row.after, row.result, row.excess, row.distance)
        for row in told.changes.shown
    ]
    beside = [
        (
            row.weights,
            row.verdict,
            f"{row.loss} / {row.control_loss}",
            row.loss_z,
            f"{row.norm} / {row.control_norm}",
            row.norm_z,
        )
        for row in told.comparisons.shown
    ]
    operations = [
        (item.precision, " ".join(filter(None, (item.sentence.replace("`", ""), item.location))))
        for item in told.operations
    ]
    checks = [(row.name, row.found, row.meaning) for row in told.checks.shown]
    costs = [(row.name, row.seconds) for row in told.costs.shown]
    tables: list[tuple[str, Sequence[str], _Rows]] = [
        (
            "One thing changed at a time",
            ("setting", "this run", "changed to", "the failure", "excess", "from log"),
            changes,
        ),
        (
            "The suspect batch / the others",
            ("at the weights", "suspect", "loss", "", "gradient norm", ""),
            beside,
        ),
        ("The first operation that was not finite", ("precision", "operation"), operations),
        ("What else was measured", ("", "found", "which says"), checks),
        ("How long it took", ("", ""), costs),
    ]
    return (item for item in tables if item[2])


class _Printer:
    """Prints what comes from the run as text, never as markup."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._fancy = can_show(console, "→…×σ√✕")

    def heading(self, words: str) -> None:
        self._console.print()
        self._console.print(Text(words, style="bold"))

    def paragraph(self, words: str) -> None:
        self._console.print(self._text(words))

    def list(self, title: str, items: Folded[str]) -> None:
        shown = [*items.shown, *items.folded]
        if not shown:
            return
        self.heading(title)
        for item in shown:
            self._console.print(Padding(self._text(f"- {item}"), (0, 0, 0, 2)))

    def table(
        self, head: Sequence[str], rows: Iterable[Sequence[str]], styles: Sequence[str] = ()
    ) -> None:
        table = Table(box=None, pad_edge=False, show_header=any(head), padding=(0, 2, 0, 0))
        kept = list(rows)
        for place in range(len(kept[0]) if kept else 0):
            title = head[place] if place < len(head) else ""
            table.add_column(title, header_style="dim", overflow="fold")
        for row, style in zip(kept, chain(styles, [""] * len(kept)), strict=False):
            cells = [self._text(cell) for cell in row]
            cells[0].stylize(style or "bold")
            table.add_row(*cells)
        self._console.print(Padding(table, (0, 0, 0, 2)))

    def _text(self, words: str) -> Text:
        return Text(plain_text(one_line(words, 2000), self._console, self._fancy))
