"""Judged once more, with what only checkpoints tell."""

from dataclasses import replace

import numpy as np

from forensics.findings import Outcome
from forensics.stages.judging import judged_again
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
