from forensics.causes import rank
from forensics.findings import Outcome
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import (
    built_up,
    falling,
    loss_spike,
    probability,
    spiked_each_epoch,
    spiked_once,
    steady,
    winner,
)


def test_a_gradient_that_built_up_speaks_against_a_bad_batch():
    assert probability(built_up(), "bad_batch") < 0.05


def test_a_batch_far_longer_than_the_others_is_no_plain_bad_batch():
    length = steady(512, noise=0.01)
    length[149] = 4096
    assert winner(spiked_once(tracks={Signal.SEQ_LEN: length})) != "bad_batch"


def test_a_healthy_run_has_no_bad_batch():
    assert probability(healthy_case(), "bad_batch") < 0.01


def test_one_tall_point_with_its_gradient_is_a_bad_batch():
    assert winner(spiked_once()) == "bad_batch"


def test_without_a_gradient_norm_it_is_still_the_first_guess():
    loss = falling()
    loss[149] = 9.0
    case = make_case(
        loss, outcome=Outcome.SPIKED_RECOVERED, onset=150, episodes=[loss_spike(150, 9.0)]
    )
    assert winner(case) == "bad_batch"
    assert probability(case, "bad_batch") < probability(spiked_once(), "bad_batch")


def test_the_same_place_of_each_epoch_speaks_for_it():
    assert winner(spiked_each_epoch(9.0)) == "bad_batch"


def test_it_asks_to_skip_the_step_of_the_spike():
    first = rank(spiked_once())[0][0]
    assert first.skip_steps == (150,)
    assert "step 150" in first.verify


def test_an_overshoot_in_the_first_steps_is_no_bad_batch():
    assert winner(spiked_once(height=14.0, onset=2)) != "bad_batch"
