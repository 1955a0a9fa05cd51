"""Judged once more, with what only checkpoints tell."""

from dataclasses import replace

import numpy as np
import pytest

from forensics.causes import rank
from forensics.findings import Evidence, Outcome
from forensics.stages.judging import agreed, judged_again
from tests.causes.cases import healthy_case, make_case
from tests.causes.facts_of import change, pair, scanned

STILL = pair(*(change(f"{i}.weight", 0.0) for i in range(4)))
MOVING = pair(*(change(f"{i}.weight", 0.1) for i in range(4)))
FLAT = 1.2 + 0.03 * np.random.default_rng(0).standard_normal(15)


def again(case, *found):
    return judged_again(replace(case, survey=scanned(*found).survey), None).judgement


def test_weights_that_move_leave_a_sound_run_sound():
    assert again(make_case(FLAT), MOVING).outcome is Outcome.HEALTHY


def test_a_loss_that_fell_was_trained_whatever_was_saved():
    assert again(healthy_case(), STILL).outcome is Outcome.HEALTHY


def test_a_failure_is_left_as_it_was():
    case = make_case(FLAT, outcome=Outcome.DIVERGED, onset=8)
    assert again(case, STILL).outcome is Outcome.DIVERGED


def test_weights_equal_bit_for_bit_were_never_trained():
    found = again(make_case(FLAT), STILL)
    assert found.outcome is Outcome.STALLED
    assert found.onset_step == 1
    assert "bit for bit" in found.reason


def first(cause, probability):
    evidence = (Evidence("The gradients vanish.", True, 4.0, "checkpoints"),)
    ranked, _ = rank(healthy_case())
    return (replace(ranked[0], cause=cause, probability=probability, evidence=evidence),)


def test_a_cause_that_is_not_likely_leaves_a_sound_loss_sound():
    case = healthy_case()
    assert agreed(case, first("vanishing_gradients", 0.4)) is case


@pytest.mark.parametrize("cause", ["no_failure", "process_killed", "bad_batch"])
def test_a_cause_of_no_stall_leaves_it_so_too(cause):
    case = healthy_case()
    assert agreed(case, first(cause, 0.9)) is case


def test_a_likely_cause_of_stalls_is_not_called_healthy():
    found = agreed(healthy_case(), first("vanishing_gradients", 0.9)).judgement
    assert found.outcome is Outcome.STALLED
    assert found.reason == "The gradients vanish."
