from forensics.findings import Outcome
from forensics.run import TextKind
from tests.causes.cases import healthy_case
from tests.causes.resumed import diverged_on_second_warmup, jumped
from tests.causes.shapes import probability, spiked_once, winner


def test_without_a_resume_nothing_was_lost_at_one():
    assert probability(spiked_once(), "resume_state_lost") < 0.01


def test_a_failure_long_after_the_resume_is_another_cause():
    assert probability(diverged_on_second_warmup(), "resume_state_lost") < 0.05


def test_a_loss_that_dropped_is_repeated_data():
    assert probability(jumped("down"), "resume_state_lost") < 0.05


def test_a_rate_that_jumped_is_another_cause():
    assert winner(jumped(rate_after=1e-3)) != "resume_state_lost"


def test_a_quiet_resume_of_a_healthy_run_lost_nothing():
    assert winner(healthy_case(resumes=[100])) == "no_failure"


def test_a_jump_at_the_resume_with_the_rate_going_on_is_a_lost_state():
    assert winner(jumped()) == "resume_state_lost"
    assert winner(jumped(lr=None)) == "resume_state_lost"


def test_the_output_can_say_so():
    said = jumped(outcome=Outcome.DIVERGED, text=[TextKind.OPTIMIZER_NOT_RESTORED])
    assert winner(said) == "resume_state_lost"
