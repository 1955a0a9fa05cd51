import re
from pathlib import Path

import pytest

from forensics.report import html_report
from forensics.report.templates import template_folder
from tests.report import samples
from tests.report.page import read

SAMPLES = [
    "bare",
    "diverged_finetune",
    "healthy_pretraining",
    "hidden_nan",
    "hostile",
    "replayed",
    "several_runs",
]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_page_needs_nothing_else(name: str) -> None:
    found = read(html_report.render(getattr(samples, name)()))
    assert all(link.startswith("#") for link in found.links)
    assert not {"script", "link", "iframe", "object", "embed", "form", "base"} & set(found.tags)
    assert not [a for a in found.attributes if a[1].startswith("on") or "url(http" in a[2]]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_page_is_sound(name: str) -> None:
    page = html_report.render(getattr(samples, name)())
    found = read(page)
    assert found.faults == []
    assert len(found.ids) == len(set(found.ids))
    targets = {link[1:] for link in found.links if link != "#"}
    assert targets <= set(found.ids)
    labels = {value for _, name, value in found.attributes if name == "aria-labelledby"}
    assert labels <= set(found.ids)
    assert [t for t in found.tags if t == "h1"] == ["h1"]
    page.encode("utf-8")


def test_nothing_from_the_run_becomes_markup_or_template_code() -> None:
    page = html_report.render(samples.hostile())
    found = read(page)
    assert "<script>alert('x')</script>" in found.text
    assert "{{7*7}}" in found.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", page)
    assert "\\x1b[31m" in found.text
    assert "C:\\Users\\me\\runs" in found.text


def test_the_sections_stand_in_order() -> None:
    found = read(html_report.render(samples.several_runs()))
    order = [
        "verdict",
        "timeline",
        "hypotheses",
        "actions",
        "restart",
        "checklist",
        "cost",
        "episodes",
        "checkpoints",
        "other-runs",
        "inventory",
        "configuration",
        "warnings",
        "about",
    ]
    assert [i for i in found.ids if i in order] == order


def test_the_verdict_is_told_before_anything_else() -> None:
    text = " ".join(read(html_report.render(samples.diverged_finetune())).text.split())
    head = text[: text.index("Timeline", text.index("The training loss diverged"))]
    for fact in (
        "Diverged",
        "Learning rate too high",
        "84\u00a0%",
        "likely",
        "checkpoint-1000",
        "step\u00a01,240",
        "transformers 4.46.1",
        "runs/sft-lr2e-4",
        "10 to 3,000",
    ):
        assert fact.replace("\u00a0", " ") in head.replace("\u00a0", " "), fact


def test_every_part_of_a_verdict_is_on_the_page() -> None:
    verdict = samples.several_runs()
    text = " ".join(read(html_report.render(verdict)).text.replace("\u00a0", " ").split())
    wanted = [
        *(h.title for h in verdict.hypotheses if h.cause != "no_failure"),
        *(e.text for h in verdict.hypotheses[:3] for e in h.evidence),
        *(m.rule[5:] for m in verdict.monitors),
        *(c.found for c in verdict.checklist),
        *(c.path for c in verdict.checkpoints),
        *(r.path for r in verdict.other_runs),
        *(f.path for f in verdict.case.run.files),
        *verdict.warnings,
        *verdict.pilot,
        "lr_scheduler_type",
        "1,760 steps",
    ]
    assert [w for w in wanted if w not in text] == []


def test_a_page_of_very_much_stays_in_bounds() -> None:
    page = html_report.render(samples.huge())
    assert len(page) < 2_000_000
    found = read(page)
    assert found.faults == []
    assert found.tags.count("details") > 5
    assert "not listed here" in found.text
    assert "part-01999.log" in found.text


def test_the_same_verdict_gives_the_same_page() -> None:
    first, second = (html_report.render(samples.diverged_finetune()) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", SAMPLES)
def test_a_card_is_sound_and_keeps_its_style_to_itself(name: str) -> None:
    card = html_report.html_fragment(getattr(samples, name)())
    found = read(card)
    assert found.faults == []
    assert all(link.startswith("#") for link in found.links)
    css = card[card.index("<style>") + 7 : card.index("</style>")]
    selectors = re.findall(r"([^{}]+)\{", css)
    parts = [part.strip() for selector in selectors for part in selector.split(",")]
    assert all(part.startswith(".forensics-card") for part in parts)


def _luminance(code: str) -> float:
    parts = [int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(a: str, b: str) -> float:
    high, low = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _schemes() -> list[dict[str, str]]:
    css = Path(template_folder(), "report.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    return [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in (light, dark)]


@pytest.mark.parametrize("scheme", _schemes(), ids=["light", "dark"])
def test_text_has_the_contrast_that_wcag_aa_asks_for(scheme: dict[str, str]) -> None:
    pairs = [
        *((ink, paper) for ink in ("ink", "soft", "muted") for paper in ("paper", "sunk")),
        *((tone, f"{tone}-tint") for tone in ("good", "warn", "bad", "neutral")),
        *((tone, "paper") for tone in ("good", "warn", "bad", "accent")),
    ]
    drawn = ("ink", "muted", "loss", "eval", "grad", "lr", "extra", "bad", "good", "warn")
    pairs += [(f"fig-{name}", "paper") for name in drawn]
    low = {p: round(_contrast(scheme[p[0]], scheme[p[1]]), 2) for p in pairs}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}
