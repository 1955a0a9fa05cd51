from dataclasses import replace

import numpy as np
import pytest

from forensics.causes import rank
from forensics.causes._resumes import Sides, rate_around, was_resumed
from forensics.findings import Change
from forensics.run import TextKind
from tests.causes.cases import healthy_case
from tests.causes.resumed import diverged_on_second_warmup, jumped
from tests.causes.shapes import probability, spiked_once, winner


def test_without_a_resume_no_schedule_restarted():
    assert probability(spiked_once(), "schedule_restart") < 0.01


def test_a_rate_that_went_on_did_not_restart():
    assert probability(jumped(), "schedule_restart") < 0.02


def test_a_healthy_run_is_healthy():
    assert winner(healthy_case(resumes=[100])) == "no_failure"


def test_a_replayed_warmup_is_a_restart():
    assert winner(diverged_on_second_warmup()) == "schedule_restart"


def test_a_rate_that_jumped_up_with_the_loss_is_a_restart():
    case = jumped(rate_after=1e-3)
    assert winner(case) == "schedule_restart"
    changes = rank(case)[0][0].changes
    assert changes == (Change("learning_rate_after_resume", 1e-3, 3e-4),)


def test_without_a_logged_rate_the_output_can_say_so():
    silent = diverged_on_second_warmup(lr=None)
    said = diverged_on_second_warmup(lr=None, text=[TextKind.SCHEDULER_NOT_RESTORED])
    assert probability(silent, "schedule_restart") < 0.5
    assert winner(said) == "schedule_restart"


def test_a_warmup_that_happens_to_begin_at_the_old_rate_is_told_by_its_peak():
    rate = np.concatenate([np.linspace(1.0, 0.3, 99), np.linspace(0.32, 1.0, 20), np.ones(81)])
    case = jumped(lr=3e-4 * rate, resumes=[])
    assert case.lr is not None
    case = replace(case, lr=replace(case.lr, restarts=(100,)))
    assert rate_around(case) == Sides(pytest.approx(9e-5), pytest.approx(3e-4))
    assert was_resumed(case)
