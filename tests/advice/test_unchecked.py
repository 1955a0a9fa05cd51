from dataclasses import replace

import numpy as np

from forensics.advice import advise
from forensics.advice.sentence import verdict_sentence
from forensics.advice.unchecked import caveats, without_data
from forensics.causes import rank
from forensics.findings import Outcome
from forensics.run import Axis, Config, FileRecord, Note, Series
from tests.causes.cases import healthy_case, make_case

FALLING = np.geomspace(3, 0.5, 100)


def test_a_run_that_shows_all_has_no_caveat():
    case = make_case(FALLING, eval_loss=np.geomspace(3, 0.6, 10), config=Config(total_steps=100))
    assert caveats(case) == ()
    assert "as far as" not in verdict_sentence(case, *rank(case))


def test_only_checks_without_data_are_drawn_together():
    assert without_data([]) == ()
    assert without_data(["the scan was not made"]) == ("the scan was not made",)


def test_checks_without_data_are_one_line_after_the_real_warnings():
    skipped = [
        "clip_saturation: not checked, it needs grad_norm, which was not logged",
        "overfit: not checked, it needs train_loss and eval_loss, which was not logged",
    ]
    case = make_case(FALLING, skipped=skipped)
    case = replace(case, run=replace(case.run, notes=(Note("it is cut short", "train.log"),)))
    assert advise(case, *rank(case)).warnings == (
        "train.log: it is cut short",
        "2 checks had no data: clip saturation (grad_norm), overfit (train_loss and eval_loss)",
    )


def test_a_healthy_verdict_says_what_it_does_not_cover():
    case = make_case(FALLING, config=Config(total_steps=400))
    unread = FileRecord("metrics.db", 10, "", "no reader takes it")
    notes = (Note("it is damaged", "metrics.db"),)
    case = replace(case, run=replace(case.run, files=(unread,), notes=notes))
    assert caveats(case) == (
        "no validation was logged",
        "the log ends at step 100 of 400 planned",
        "metrics.db could not be read",
    )
    said = verdict_sentence(case, *rank(case))
    assert all(clause in said for clause in caveats(case))


def test_what_was_seen_in_place_of_a_loss_is_named():
    case = make_case(outcome=Outcome.UNKNOWN)
    series = [Series(t, np.arange(9), np.ones(9), "log.csv") for t in ("accuracy", "img/s")]
    case = replace(case, run=replace(case.run, series=tuple(series)))
    said = verdict_sentence(case, *rank(case))
    assert said.startswith("No loss was recognised among what was logged (accuracy, img/s)")


def test_epochs_are_called_epochs():
    case = replace(healthy_case())
    line = replace(case.timeline, axis=Axis.EPOCH)
    verdict = advise(replace(case, timeline=line), *rank(replace(case, timeline=line)))
    assert f"over {line.length} epochs" in verdict.sentence
    assert not any(f"steps {line.first_step}" in m.rule for m in verdict.monitors)
