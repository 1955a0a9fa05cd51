import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forensics.report import markdown_report
from forensics.report.markdown_report import code, table, text
from tests.report import samples

NAMES = [name for name in samples.__all__ if name != "only_numbers"]
MARKDOWN = MarkdownIt("commonmark").enable("table")


def _html(source: str) -> str:
    return str(MARKDOWN.render(source))


@pytest.mark.parametrize("name", NAMES)
def test_an_issue_can_hold_it(name: str) -> None:
    source = markdown_report.render(getattr(samples, name)())
    assert len(source) < 65_536
    assert source.count("<details>") == source.count("</details>")
    source.encode("utf-8")


def test_nothing_from_the_run_becomes_markup() -> None:
    html = _html(markdown_report.render(samples.hostile()))
    tags = set(re.findall(r"<(/?[a-zA-Z]+)", html))
    assert not {"script", "b", "a", "img"} & tags
    assert "<b>off" not in html


@settings(deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=60))
def test_any_text_stays_one_plain_paragraph(value: str) -> None:
    safe = text(value)
    html = _html(f"x {safe} y")
    assert re.fullmatch(r"<p>[^<]*</p>\n", html), html


@settings(deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=60))
def test_any_text_stays_in_its_cell(value: str) -> None:
    html = _html(table(["a", "b"], [[text(value), code(value)]]))
    assert html.count("<td>") == 2
    assert html.count("<tr>") == 2


def test_nobody_is_called_and_no_issue_is_linked() -> None:
    assert "@\u2060admin" in text("@admin #12")
    assert "\\#12" in text("@admin #12")


def test_a_text_that_looks_like_a_list_is_no_list() -> None:
    for value in ("- a", "+ a", "1. a", "2) a"):
        assert "<li>" not in _html(text(value))


def test_a_code_span_outlasts_the_backticks_in_it() -> None:
    assert code("a`b``c") == "```a`b``c```"
    assert code("`a`") == "`` `a` ``"
    assert code("a|b") == "`a\\|b`"
    assert code("") == ""


def test_too_long_a_report_is_cut_at_a_line_and_says_so() -> None:
    whole = "<details>\n" + "a line of the report\n" * 10_000
    cut = markdown_report._cut(whole)
    assert len(cut) < 65_536
    assert cut.count("</details>") == 1
    assert "The rest is cut" in cut


def test_what_matters_is_there() -> None:
    source = markdown_report.render(samples.diverged_finetune()).replace("\u00a0", " ")
    assert source.startswith("## The training loss diverged at step 1,240")
    for part in (
        "| Last healthy checkpoint | `checkpoint-1000` (step 1,000) |",
        "**1. Learning rate too high** – 84 %, likely",
        "- against: The rate had already decayed to 63 % of its peak at the onset.",
        "- not checked: Update-to-weight ratio: it was not logged.",
        "| `learning_rate` | 2e-4 | **2e-5** |",
        "How to settle it: Resume checkpoint-1000 at `learning_rate=2e-5` for 400 steps",
        "| fp16 overflow | &lt;1 % | The run used bf16. *(decisive, logs)* |",
    ):
        assert part in source, part


def test_lines_of_code_stay_lines_of_code() -> None:
    source = markdown_report.render(samples.hidden_nan())
    assert "```\npython train.py \\\n    --bf16 --max_steps 500" in source


def test_a_table_that_is_cut_says_so() -> None:
    made = markdown_report.render(samples.huge())
    assert "The first 12 of " in made
    assert "list the others" not in markdown_report.render(samples.healthy_pretraining())
