"""The comparison with other tools: what they print is read as they mean it, and counted fairly."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forensics.causes import all_causes

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def _benchmarks_on_the_path():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def tools():
    return importlib.import_module("peer_tools")


@pytest.fixture(scope="module")
def words():
    return importlib.import_module("peer_words")


@pytest.fixture(scope="module")
def verdicts():
    return importlib.import_module("peer_verdicts")


SPIKE = {"title": "Loss spike", "fixes": ["Lower the learning rate.", "Check the batch here."]}
PRINTED = {
    "losslint": {
        "findings": [{"check": "loss_spike", "severity": "warning", "message": "LR bug?"}]
    },
    "gradsnitch": [
        {
            "code": "GS005",
            "severity": "warning",
            "name": "Loss plateau",
            "likely_cause": "LR too low.",
            "suggestion": "Raise LR.",
        }
    ],
    "runmedic": [
        {
            "source": source,
            "findings": [
                {
                    "check": check,
                    "severity": "critical",
                    "title": "GPU ran out of memory",
                    "likely_causes": [],
                    "fixes": [],
                }
            ],
        }
        for source, check in (("text", "log:cuda_oom"), ("text", "divergence"))
    ],
    "trainspotter": {"findings": [{"detector": "spikes", "severity": "error", **SPIKE}]},
    "trainproof": {
        "reports": [
            {
                "findings": [
                    {"id": "TP-PASS", "level": "PASS", "message": "", "evidence": ""},
                    {"id": "TP-OVERFIT", "level": "WARN", "message": "Overfitting", "evidence": ""},
                ]
            }
        ]
    },
}
READ = {
    "losslint": ("loss_spike", 1, ("learning_rate_too_high",)),
    "gradsnitch": ("GS005", 1, ("learning_rate_too_low",)),
    "runmedic": ("log:cuda_oom", 2, ("process_killed",)),
    "trainspotter": (
        "spikes",
        2,
        ("learning_rate_too_high", "bad_batch", "hard_but_valid_batch"),
    ),
    "trainproof": ("TP-OVERFIT", 1, ("overfitting",)),
}


@pytest.mark.parametrize(
    "text",
    [
        "No problems found",
        "Gradient clipping likely saturated; raise the clip threshold",
        "If warmup is configured but not logged, check the logging interval",
        "Loss never improved over the run (dead run).",
    ],
)
def test_words_that_name_no_cause(words, text):
    assert words.causes_named(text) == ()


def test_every_cause_in_the_table_is_one_of_ours(words):
    known = {c.name for c in all_causes()}
    assert {c for _, causes in words.WORDS for c in causes} <= known


def test_causes_come_in_the_order_of_the_text(words):
    text = "fp16 overflow, or a bad batch, or LR too high; a bad batch"
    named = ("fp16_overflow", "bad_batch", "hard_but_valid_batch", "learning_rate_too_high")
    assert words.causes_named(text) == named


def test_silence_is_no_alarm(tools, verdicts):
    silent = {"losslint": {"findings": []}, "gradsnitch": [], "runmedic": []}
    silent |= {"trainspotter": {"findings": []}, "trainproof": {"reports": []}}
    for name, printed in silent.items():
        verdict = verdicts.judge(tools.PEERS[name].findings(json.dumps(printed)), 0.1)
        assert (verdict.level, verdict.alarm, verdict.causes) == (-1, False, ())


@pytest.mark.parametrize("name", PRINTED)
def test_what_a_peer_prints(tools, words, name):
    (found,) = tools.PEERS[name].findings(json.dumps(PRINTED[name]))
    assert (found.rule, found.level, words.causes_named(found.words)) == READ[name]


def test_every_peer_has_a_recorded_answer(tools):
    assert set(PRINTED) == set(tools.PEERS)


def test_the_loudest_finding_speaks_first(tools, verdicts):
    remark = tools.Finding("plateau", 0, "LR too low")
    failure = tools.Finding("nan", 2, "LR too high")
    verdict = verdicts.judge([remark, failure], 0.1)
    assert verdict.shown == "nan, plateau"
    assert verdict.causes == ("learning_rate_too_high", "learning_rate_too_low")


def test_counts(verdicts):
    def truth(outcome, cause):
        return verdicts.Truth("r", outcome, cause, frozenset([cause]), frozenset([cause, "other"]))

    def said(level, *causes):
        return {"peer": verdicts.Verdict("x", level, causes, 1.0)}

    rows = [
        (truth("healthy", "no_failure"), said(0)),
        (truth("healthy", "no_failure"), said(1)),
        (truth("diverged", "bad_batch"), said(2, "overfitting", "bad_batch")),
        (truth("diverged", "bad_batch"), said(0, "other")),
        (truth("diverged", "bad_batch"), said(-1)),
    ]
    counts = verdicts.totals(rows)["peer"]
    assert (counts["false_alarms"], counts["false_alarms_with_remarks"]) == (1, 2)
    assert (counts["noticed"], counts["noticed_with_remarks"]) == (1, 2)
    assert (counts["named_first"], counts["named"]) == (1, 2)


def points(signal, steps, values, source="metrics.csv", tag=None):
    told = {
        "step": steps,
        "signal": signal,
        "value": values,
        "source": source,
        "tag": tag or signal,
    }
    return pd.DataFrame(told)


def test_a_gap_is_not_nan_and_a_rewind_is_kept(tools):
    frame = pd.concat(
        [
            points("train_loss", [1, 2, 3, 2, 3], [3.0, 2.0, np.nan, 2.5, 2.0]),
            points("train_loss", [3], [9.0], tag="mean"),
            points("eval_loss", [3], [2.2]),
        ]
    )
    table = tools.quantities(frame)
    assert table.step.tolist() == [1, 2, 3, 2, 3]
    assert table.loss.tolist() == ["3.0", "2.0", "nan", "2.5", "2.0"]
    assert table.eval_loss.isna().tolist() == [True, True, False, True, True]


def test_a_loss_in_every_row_loses_no_evaluation(tools):
    frame = pd.concat(
        [points("train_loss", [2, 4], [3.0, 2.0]), points("eval_loss", [3, 5], [3.1, 2.1])]
    )
    dense = tools.with_loss_in_every_row(tools.quantities(frame))
    assert dense.step.tolist() == [2, 4]
    assert dense.eval_loss.tolist() == ["3.1", "2.1"]


def test_a_run_that_logged_nothing(tools, tmp_path):
    given = tools.give(tmp_path, points("other", [1], [1.0]), tmp_path / "given")
    assert given.table.read_text().strip() == "step,loss"
