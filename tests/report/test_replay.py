"""The replay in every format of the report."""

import json
from dataclasses import fields, is_dataclass, replace

import jsonschema
import pytest

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.diagnosis import Diagnosis
from forensics.findings import Outcome, Status
from forensics.replay_facts import ReplayFacts, Variant
from forensics.report import html_report, json_report, markdown_report
from forensics.report.names import Tone
from forensics.report.view import build_page, replay
from forensics.verdict import Verdict
from tests import replay_facts_of as of
from tests.report import samples
from tests.report.page import read
from tests.report.test_json_report import SCHEMA
from tests.report.test_markdown_report import _html as as_html
from tests.report.test_terminal_report import shown


def not_replayed(**run: object) -> Verdict:
    """The same verdict without a replay."""
    made = samples.replayed()
    case: Case = replace(made.case, replay=None)
    return replace(made, case=replace(case, run=replace(case.run, **run)))


def labels(facts: ReplayFacts, status: Status = Status.CONFIRMED) -> dict[str, str]:
    """Label -> text of every conclusion."""
    told = build_page(samples.replayed(facts, status)).replay
    assert told is not None
    return {c.label: c.text for c in told.conclusions}


def test_without_a_replay_there_is_a_line_and_no_section() -> None:
    page = html_report.render(not_replayed())
    found = read(page)
    assert "replay" not in found.ids
    assert "#replay" not in found.links
    assert "forensics replay 'runs/bad batch' --replay FILE" in found.text


def test_a_healthy_run_is_not_asked_to_be_replayed() -> None:
    assert "replay" not in read(html_report.render(samples.healthy_pretraining())).text


def test_a_replay_of_a_healthy_run_proves_no_cause() -> None:
    made = samples.replayed(of.facts(suspect_step=None, as_run=of.as_run(reproduces=None)))
    calm = replace(made.case.judgement, outcome=Outcome.HEALTHY)
    told = build_page(replace(made, case=replace(made.case, judgement=calm), hypotheses=()))
    assert told.replay is not None
    assert {c.label for c in told.replay.conclusions} == {
        "Replayed",
        "The data, perhaps the state",
    }


def test_a_replay_that_never_started_says_why_in_the_words_it_was_given() -> None:
    words = "replay.py:3: import nothing_like_it: No module named 'nothing_like_it'"
    facts = ReplayFacts("replay.py", "", "fp32", 0.0, 60.0, failures=(words,))
    verdict = samples.replayed(facts)
    for text in (read(html_report.render(verdict)).text, shown(verdict, width=200)):
        assert words in " ".join(text.split())
    assert "replay.py:3: import" in markdown_report.render(verdict).replace("\\", "")
    assert read(html_report.render(verdict)).faults == []


def test_nothing_is_said_to_be_removed_where_nothing_came_again() -> None:
    told = labels(of.facts(as_run=of.as_run(reproduces=False)), Status.LIKELY)
    assert "Not reproduced" in told
    assert "Not proven" in told
    assert not {"Removed by", "Not removed by", "Reproduced", "Proven"} & set(told)


def test_what_was_proven_comes_first_and_what_was_not_last() -> None:
    assert next(iter(labels(of.facts()))) == "Proven"
    assert list(labels(of.facts(), Status.LIKELY))[-1] == "Not proven"


def test_the_changes_are_told_the_smallest_first() -> None:
    changes = (
        of.change(Variant.RATE_TENTH, removes=True, setting="lr", after="1e-4"),
        of.change(Variant.SKIP_BATCH, removes=True, setting="batch", after="skipped"),
        of.change(Variant.BETA2, removes=False, setting="beta2", after="0.95"),
    )
    told = labels(of.facts(counterfactuals=changes))
    assert told["Removed by"].startswith("batch: 1 → skipped; lr: 1 → 1e-4")
    assert told["Not removed by"] == "beta2: 1 → 0.95."


def test_every_part_of_a_replay_is_on_the_page() -> None:
    text = " ".join(
        read(html_report.render(samples.replayed())).text.replace("\u00a0", " ").split()
    )
    wanted = [
        "replay.py:12: load_batch: step 9 is not in the data",
        "sum in encoder.layers.3 gives infinity first, forward of step 317",
        "called at model.py:41",
        "float16 (16, 1024), -3.1 to 65504",
        "everything in step 317 stays finite",
        "50 % of the repeats equal",
        "up to 0.4 times the run's rate: lr over critical lr is 2.5",
        "the labels fit when moved by -1",
        "with its labels permuted 4 → 2",
        "in evaluation mode infinity",
        "on 2 ranks (DDP)",
        "logged gradient norm 4 of the replayed",
        "tokens are spread like noise",
        "36,000 parameters, optimizer state restored",
        "label shifts: the labels could not be told",
        "cut short by the budget",
        "24.5 s",
        "much earlier",
        "torch sees no CUDA device",
    ]
    assert [w for w in wanted if w not in text] == []


def test_text_of_the_run_is_no_markup() -> None:
    odd = "<script>alert(1)</script> {{7*7}} | `x` \x1b[31m"
    facts = of.facts(source=odd, failures=(odd,), left_out=(odd,), alignment=odd)
    verdict = samples.replayed(facts)
    page = html_report.render(verdict)
    assert "<script>" not in page
    assert "\x1b" not in page
    assert "\x1b" not in shown(verdict)
    assert "<script>" not in as_html(markdown_report.render(verdict))


@pytest.mark.parametrize("facts", [of.facts(), of.everything()])
def test_json_holds_every_field_of_the_facts(facts: ReplayFacts) -> None:
    told = json.loads(json_report.to_json(samples.replayed(facts)))
    jsonschema.validate(told, SCHEMA)
    assert set(told["replay"]) == {f.name for f in fields(facts)} | {"conclusion"}
    assert_complete(facts, told["replay"])


def assert_complete(value: object, told: object) -> None:
    """Every field of every dataclass below ``value`` is there by its name."""
    if is_dataclass(value) and isinstance(told, dict):
        for field in fields(value):
            assert field.name in told
            assert_complete(getattr(value, field.name), told[field.name])
    elif isinstance(value, tuple):
        assert isinstance(told, list)
        assert len(value) == len(told)
        for one, other in zip(value, told, strict=True):
            assert_complete(one, other)


def test_json_says_what_follows() -> None:
    told = json_report.to_dict(samples.replayed(of.facts()))["replay"]
    assert told["conclusion"]["repeat"] == "reproduced"
    assert told["conclusion"]["removed_by"] == ["skip_batch"]
    assert told["conclusion"]["not_removed_by"] == ["epsilon", "rate_tenth"]
    assert told["conclusion"]["blame"] == "data_or_both"
    infinite = json_report.to_dict(samples.replayed())["replay"]
    assert infinite["as_run"]["trajectory"]["excess"] == "Infinity"
    assert infinite["as_run"]["trajectory"]["loss"][-1] == "NaN"


def test_the_terminal_and_markdown_tell_it_in_short() -> None:
    verdict = samples.replayed(of.facts())
    assert "proven: Bad batch; reproduced; removed by skip: 1 → 2" in shown(verdict, width=120)
    source = markdown_report.render(verdict)
    assert "### Replay" in source
    assert "| skip | 1 | 2 | removed | 0 |" in source


def test_a_notebook_gets_facts_and_a_frame() -> None:
    made = Diagnosis(samples.replayed(of.facts()))
    assert made.replay is not None
    frame = made.counterfactuals
    assert list(frame["removes"]) == [False, True, False]
    assert frame["excess"].dtype == float
    bare = Diagnosis(not_replayed())
    assert bare.replay is None
    assert list(bare.counterfactuals.columns) == list(frame.columns)
    assert bare.counterfactuals.empty


@pytest.mark.parametrize(
    ("checked", "said"),
    [
        ((), "it was not checked"),
        ((Oddity.OVERLONG,), "the batch looks like the others"),
    ],
)
def test_a_batch_that_could_not_be_checked_is_not_called_clean(
    checked: tuple[Oddity, ...], said: str
) -> None:
    told = build_page(samples.replayed(of.facts(audit=of.audit("", checked=checked)))).replay
    assert told is not None
    (row,) = [r for r in told.checks.shown if r.name == "What the batch holds"]
    assert row.meaning == said
    assert (row.tone is Tone.GOOD) is bool(checked)


def test_the_view_of_no_replay_is_none() -> None:
    assert replay(None, ()) is None
