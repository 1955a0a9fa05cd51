import numpy as np
import pytest

from forensics.causes._looks_health import came_to_rest
from forensics.findings import EpisodeKind, Outcome, Severity
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.shapes import built_up, falling, probability, steady, winner

FAILURES = [o for o in Outcome if o.is_failure]


@pytest.mark.parametrize("outcome", FAILURES)
def test_a_failure_is_never_called_none(outcome):
    assert probability(healthy_case(outcome=outcome, onset=100), "no_failure") < 0.1


def test_an_unknown_outcome_is_not_called_healthy():
    assert winner(make_case(outcome=Outcome.UNKNOWN)) == ""


def test_a_loss_that_never_fell_speaks_against_it():
    flat = make_case(steady(2.0), outcome=Outcome.SPIKED_RECOVERED, onset=50)
    fell = make_case(falling(), outcome=Outcome.SPIKED_RECOVERED, onset=50)
    assert probability(flat, "no_failure") < probability(fell, "no_failure")


def test_healthy_runs_have_no_failure():
    assert winner(healthy_case()) == "no_failure"
    assert probability(healthy_case(), "no_failure") > 0.9
    assert winner(make_case([3.0, 2.0, 1.5, 1.2, 1.0, 0.9])) == "no_failure"
    assert winner(make_case(eval_loss=np.linspace(3, 1, 8))) == "no_failure"


def test_a_spike_that_came_back_and_fits_no_cause_is_no_failure():
    assert winner(built_up()) == "no_failure"


def test_an_excerpt_of_a_long_run_need_not_fall():
    excerpt = make_case(
        steady(2.2, noise=0.005), outcome=Outcome.SPIKED_RECOVERED, onset=31_250, first_step=31_214
    )
    assert winner(excerpt) == "no_failure"


def test_harm_that_a_log_may_not_show_lowers_what_is_said() -> None:
    sound = probability(healthy_case(), "no_failure")
    assert sound > 0.95
    assert probability(healthy_case(eval_loss=None), "no_failure") < sound
    fast = np.full(300, 5e-3)
    assert probability(healthy_case(lr=fast), "no_failure") < sound
    still = make_case(loss=[2.35, 2.34, 2.33, 2.32, 2.31, 2.31, 2.3, 2.31, 2.31, 2.31])
    assert probability(still, "no_failure") < 0.5


def test_a_plateau_that_may_be_the_task_s_own_end_is_told() -> None:
    rest = make_episode(EpisodeKind.PLATEAU, 40, severity=Severity.WARNING, level=1.2)
    assert came_to_rest(healthy_case(episodes=[rest])).holds
    assert came_to_rest(healthy_case()).holds is None
