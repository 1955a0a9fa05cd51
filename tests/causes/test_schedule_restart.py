from forensics.causes import rank
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
