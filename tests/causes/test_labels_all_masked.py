import numpy as np

from forensics.findings import Outcome
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import falling, plateau, probability, steady, turned_nan, winner


def stalled_at(loss, norm):
    flat = [plateau(loss[0], "initial")]
    return make_case(loss, norm, outcome=Outcome.STALLED, onset=1, episodes=flat)


def test_a_flat_loss_that_is_not_zero_is_not_masked():
    assert probability(stalled_at(steady(2.3), steady(0.6)), "labels_all_masked") < 0.05


def test_a_living_gradient_contradicts_a_loss_of_zero():
    assert probability(stalled_at(np.zeros(200), steady(0.6)), "labels_all_masked") < 0.05


def test_nothing_but_zeros_from_the_first_step_on_is_a_sum_over_no_label():
    assert winner(stalled_at(np.zeros(200), np.zeros(200))) == "labels_all_masked"


def test_a_lasting_nan_is_not_a_masked_batch():
    case = turned_nan([100], lasting=True, gradient_too=True)
    assert probability(case, "labels_all_masked") < 0.05


def test_a_nan_gradient_speaks_against_it():
    case = turned_nan([60, 97, 160], lasting=False, gradient_too=True)
    assert winner(case) != "labels_all_masked"


def test_a_healthy_run_has_no_masked_batch():
    assert probability(healthy_case(), "labels_all_masked") < 0.01


def test_isolated_nan_beside_a_finite_gradient_is_a_masked_batch():
    case = turned_nan([60, 97, 160], lasting=False, gradient_too=False, eval_loss=falling()[::20])
    assert winner(case) == "labels_all_masked"
