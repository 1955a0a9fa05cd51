import numpy as np

from forensics.causes import _looks_break as broke
from forensics.findings import Outcome
from tests.causes.cases import make_case
from tests.causes.shapes import falling, steady

ONSET, POINTS = 150, 200


def broken(after: np.ndarray, outcome: Outcome = Outcome.DIVERGED, **more: object):
    loss = np.r_[falling(0.5, ONSET - 1), after]
    return make_case(loss, outcome=outcome, onset=ONSET, **more)


def rest(level: float) -> np.ndarray:
    return steady(level, POINTS - ONSET + 1, noise=0.01)


def test_a_climb_over_many_points_is_no_leap() -> None:
    climb = np.linspace(0.55, 9.0, POINTS - ONSET + 1)
    assert broke.out_of_calm(broken(climb)).holds is False
    assert broke.beyond_reason(broken(climb)).holds is False


def test_a_run_that_did_not_break_has_no_break() -> None:
    case = broken(rest(2.0), outcome=Outcome.STALLED)
    looks = (broke.out_of_calm, broke.beyond_reason, broke.never_relearned)
    assert [look(case).holds for look in looks] == [None, None, None]


def test_a_leap_out_of_calm() -> None:
    assert broke.out_of_calm(broken(rest(9.0))).holds is True
    assert broke.beyond_reason(broken(rest(9.0))).holds is False


def test_a_leap_by_orders_of_magnitude_is_beyond_reason() -> None:
    assert broke.beyond_reason(broken(rest(1e9))).holds is True


def test_what_learns_again_is_not_idle() -> None:
    again = np.geomspace(3.0, 0.8, POINTS - ONSET + 1)
    assert broke.never_relearned(broken(again)).holds is False


def test_a_level_above_that_of_an_untrained_model_is_not_idleness() -> None:
    assert broke.never_relearned(broken(rest(60.0))).holds is False


def test_an_output_without_input_rests_at_the_untrained_level() -> None:
    assert broke.never_relearned(broken(rest(4.0))).holds is True


def test_a_gradient_that_grows_with_the_loss_is_not_quiet() -> None:
    norms = np.r_[steady(0.5, ONSET - 1), rest(5.0)]
    assert broke.gradient_quiet_after(broken(rest(4.0), grad_norm=norms)).holds is False


def test_a_gradient_that_falls_as_the_loss_rises_is_quiet() -> None:
    norms = np.r_[steady(0.5, ONSET - 1), rest(0.1)]
    assert broke.gradient_quiet_after(broken(rest(4.0), grad_norm=norms)).holds is True
