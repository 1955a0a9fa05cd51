from tests.causes.cases import healthy_case
from tests.causes.shapes import falling, probability, turned_nan, winner


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
