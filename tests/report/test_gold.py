import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.report import html_report, json_report, markdown_report
from forensics.report.provenance import version
from forensics.verdict import Verdict
from tests.report import samples
from tests.report.test_terminal_report import shown

GOLD = Path(__file__).parents[1] / "gold"
ACCEPT = bool(os.environ.get("FORENSICS_ACCEPT_GOLD"))
FORMATS: dict[str, Callable[[Verdict], str]] = {
    "report.html": html_report.render,
    "diagnosis.json": json_report.to_json,
    "report.md": markdown_report.render,
    "terminal.txt": shown,
}
SCRUBS = (
    (re.compile(r"<svg.*?</svg>", re.DOTALL), "[drawing]"),
    (re.compile(re.escape(f"run-forensics {version()}")), "run-forensics [version]"),
    (re.compile(r'"forensics_version": "[^"]*"'), '"forensics_version": "[version]"'),
)


def scrub(text: str) -> str:
    """Take out what may differ between two machines."""
    for pattern, replacement in SCRUBS:
        text = pattern.sub(replacement, text)
    return text


def test_scrubbing_leaves_the_words_alone() -> None:
    assert scrub("step 1,240 <svg a><g/></svg> 84 %") == "step 1,240 [drawing] 84 %"


@pytest.mark.parametrize("sample", ["diverged_finetune", "healthy_pretraining", "hidden_nan"])
@pytest.mark.parametrize("name", FORMATS)
def test_the_report_is_as_it_was_last_looked_at(sample: str, name: str, tmp_path: Path) -> None:
    actual = scrub(FORMATS[name](getattr(samples, sample)()))
    gold = GOLD / sample / name
    if ACCEPT:
        gold.parent.mkdir(exist_ok=True)
        gold.write_text(actual, encoding="utf-8", newline="\n")
    (tmp_path / name).write_text(actual, encoding="utf-8", newline="\n")
    expected = gold.read_text(encoding="utf-8")
    assert actual == expected, f"compare {tmp_path / name} with {gold}; see {GOLD / 'README.md'}"
