import numpy as np

from forensics.causes import rank
from forensics.causes._looks_data import non_finite_each_epoch
from forensics.findings import Status
from forensics.run import Config, TextKind
from forensics.signals import Signal
from tests.causes.cases import healthy_case
from tests.causes.shapes import POINTS, probability, spiked_once, turned_nan, winner

EPOCHS = {Signal.EPOCH: np.arange(POINTS) / 50}


def test_a_nan_with_a_finite_gradient_is_no_input():
    case = turned_nan([60, 97, 160], lasting=False, gradient_too=False)
    assert probability(case, "non_finite_input") < 0.1


def test_nan_losses_at_random_places_lose_to_the_same_place():
    random = turned_nan([60, 97, 171], lasting=False, gradient_too=True, tracks=EPOCHS)
    same = turned_nan([60, 110, 160], lasting=False, gradient_too=True, tracks=EPOCHS)
    assert probability(random, "non_finite_input") < probability(same, "non_finite_input")


def test_a_healthy_run_has_no_nan():
    assert probability(healthy_case(), "non_finite_input") < 0.01


def test_isolated_nan_at_the_same_place_of_each_epoch_is_an_input():
    case = turned_nan([60, 110, 160], lasting=False, gradient_too=True, tracks=EPOCHS)
    assert winner(case) == "non_finite_input"


def test_a_sudden_lasting_nan_makes_it_one_of_the_first_guesses():
    case = turned_nan([100], lasting=True, gradient_too=True, config=Config(precision="bf16"))
    assert probability(case, "non_finite_input") > 0.25


def test_the_steps_of_a_lasting_nan_do_not_speak_about_epochs():
    case = turned_nan([100], lasting=True, gradient_too=True, tracks=EPOCHS)
    assert non_finite_each_epoch(case).holds is None


def test_without_one_non_finite_number_it_is_ruled_out():
    spiked = spiked_once()
    found = next(h for h in rank(spiked)[0] if h.cause == "non_finite_input")
    assert found.status is Status.RULED_OUT


def test_what_the_log_says_of_skipped_steps_keeps_it_open():
    spiked = spiked_once(text=[TextKind.NON_FINITE_GUARD])
    found = next(h for h in rank(spiked)[0] if h.cause == "non_finite_input")
    assert "any_non_finite" not in {e.clue for e in found.evidence}
