"""Whether the run did all that it was to do."""

import pytest

from forensics.causes import rank
from forensics.causes._looks_plan import stopped_short
from forensics.run import Axis, Config, TextKind
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import falling, probability, winner


@pytest.mark.parametrize("config", [Config(total_steps=300), Config(epochs=300.0)])
@pytest.mark.parametrize("first_step", [0, 1])
def test_a_run_that_did_its_plan_was_not_cut_short(config, first_step):
    axis = Axis.STEP if config.total_steps else Axis.EPOCH
    case = healthy_case(300, config=config, first_step=first_step, axis=axis)
    assert stopped_short(case).holds is False


def test_the_last_points_that_a_coarse_log_holds_back_are_not_missing():
    case = make_case(falling(), interval=100, config=Config(total_steps=100 * len(falling()) + 250))
    assert stopped_short(case).holds is False


@pytest.mark.parametrize("said", [TextKind.RUN_FINISHED, TextKind.INTERRUPTED])
def test_an_end_that_is_said_is_not_unexplained(said):
    case = healthy_case(300, config=Config(total_steps=900), text=[said])
    assert stopped_short(case).holds is None


def test_no_plan_no_word():
    assert stopped_short(healthy_case(config=Config())).holds is None


def test_epochs_of_an_optimizer_are_no_plan_where_the_steps_are_told():
    case = healthy_case(300, config=Config(total_steps=300, epochs=2000.0))
    assert stopped_short(case).holds is False


def test_an_end_before_the_plan_is_told_and_stays_no_alarm():
    case = healthy_case(300, config=Config(total_steps=900))
    assert stopped_short(case).holds is True
    assert "300 of 900" in stopped_short(case).text
    assert winner(case) == "no_failure"
    assert 0.1 < probability(case, "process_killed") < 0.5
    assert rank(case)[0][1].cause == "process_killed"
