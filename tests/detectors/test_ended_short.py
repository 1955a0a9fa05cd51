"""Runs that stop before their plan without a word."""

import numpy as np
import pytest

from forensics.findings import Outcome
from forensics.outcome import ended_short
from forensics.run import Config, TextEvidence, TextKind
from tests import synth

HOUR = 3600.0
LOSS = synth.power_law(380, np.random.default_rng(0))


def judged(evals=(100, 200, 300), saved=(150, 300), planned=1_000, quiet=9 * HOUR, text=()):
    tags = {"loss": LOSS}
    if evals:
        tags["eval_loss"] = (np.array(evals), LOSS[list(evals)])
    config = Config(total_steps=planned)
    return ended_short(synth.timeline_of(tags), text, config, saved, lambda: quiet)


@pytest.mark.parametrize("quiet", [None, 60.0])
def test_one_that_may_still_go_on_is_left_alone(quiet):
    assert judged(quiet=quiet) is None


@pytest.mark.parametrize("planned", [None, 380, 400])
def test_one_that_did_its_plan_or_has_none(planned):
    assert judged(planned=planned) is None


@pytest.mark.parametrize(("evals", "saved"), [((100, 200, 379), (150, 300)), ((100, 300), (379,))])
def test_an_evaluation_or_a_checkpoint_at_the_end_is_an_end_on_purpose(evals, saved):
    assert judged(evals=evals, saved=saved) is None


def test_a_log_that_has_neither_does_not_tell():
    assert judged(evals=(), saved=()) is None


@pytest.mark.parametrize("kind", [TextKind.RUN_FINISHED, TextKind.INTERRUPTED])
def test_an_end_that_is_said(kind):
    assert judged(text=[TextEvidence(kind, "Early stopping", "train.log", 9)]) is None


def test_trained_on_after_the_last_of_each_and_silent_since():
    found = judged()
    assert found is not None
    assert found.outcome is Outcome.CRASHED
    assert found.onset_step == 379
    assert "379 of 1,000" in found.reason
    assert "9 hours" in found.reason
