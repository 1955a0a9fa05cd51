import io

import pytest
from rich.console import Console

from forensics.report import terminal_report
from forensics.verdict import Verdict
from tests.report import samples
from tests.report.samples import build

NAMES = [name for name in samples.__all__ if name != "only_numbers"]


def shown(verdict: Verdict, encoding: str = "utf-8", width: int = 80, **options: bool) -> str:
    """What `show` prints on a console of this encoding and width."""
    raw = io.BytesIO()
    with io.TextIOWrapper(raw, encoding=encoding, errors="strict") as stream:
        terminal_report.show(verdict, Console(file=stream, width=width, **options))
        stream.flush()
        return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252", "cp437"])
def test_it_fits_a_screen_and_can_be_written(name: str, encoding: str) -> None:
    lines = shown(getattr(samples, name)(), encoding).splitlines()
    assert len(lines) <= 28
    assert max(map(len, lines)) <= 80


def test_a_file_or_pipe_gets_no_colours_and_the_run_sends_none() -> None:
    assert "\x1b" not in shown(samples.hostile())
    assert "\x1b[31m" not in shown(samples.hostile(), force_terminal=True)
    assert "\x1b[" in shown(samples.diverged_finetune(), force_terminal=True)


def test_text_of_the_run_is_no_console_markup() -> None:
    verdict = samples.diverged_finetune()
    marked = build.verdict(verdict.case, "[bold red]see[/] :smile: [link=x]y[/link]")
    assert "[bold red]see[/] :smile: [link=x]y[/link]" in shown(marked)


@pytest.mark.parametrize("width", [20, 40, 300])
def test_odd_widths_lose_no_verdict(width: int) -> None:
    assert "Diverged" in shown(samples.diverged_finetune(), width=width)


def test_plain_ascii_says_the_same() -> None:
    text = shown(samples.diverged_finetune(), "ascii")
    assert "learning_rate 2e-4 -> 2e-5" in text
    assert "84 %" in text


def test_the_first_screen_answers_what_why_and_what_now() -> None:
    text = " ".join(shown(samples.several_runs()).split())
    for part in (
        "Diverged",
        "Learning rate too high, 84 %, likely",
        "resume from checkpoint-1000",
        "(strong)",
        "(weak)",
        "step 1,240",
        "lr1e-5 (healthy)",
        "2, the first: train.log",
    ):
        assert part in text.replace("\u00a0", " "), part


def test_what_matters_least_goes_first_where_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terminal_report, "LINES", 12)
    text = shown(samples.several_runs())
    assert len(text.splitlines()) <= 13
    assert "other runs" not in text
    assert "resume from" in text
