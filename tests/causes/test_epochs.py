import numpy as np
import pytest

from forensics.causes import _epochs as epochs
from forensics.run import Axis, Config
from forensics.signals import Signal
from tests.causes.cases import make_case


def with_epochs(values, **more):
    return make_case(np.ones(len(values)), tracks={Signal.EPOCH: values}, **more)


def test_without_epochs_nothing_is_known():
    case = make_case(np.ones(100))
    assert epochs.steps_per_epoch(case) is None
    assert epochs.at_epoch_start(case, 50) is None
    assert epochs.same_place(case, [10, 60]) is None


def test_an_epoch_that_never_advances_has_no_length():
    assert epochs.steps_per_epoch(with_epochs(np.zeros(100))) is None


def test_a_log_that_counts_epochs_has_no_steps():
    assert epochs.steps_per_epoch(with_epochs(np.arange(100), axis=Axis.EPOCH)) is None


def test_two_steps_of_one_epoch_prove_nothing():
    assert epochs.same_place(with_epochs(np.arange(100) / 50), [10, 12]) is None


@pytest.mark.parametrize("values", [np.arange(200) / 50, np.arange(200) // 50])
def test_fractions_and_whole_epochs_give_the_same_length(values):
    assert epochs.steps_per_epoch(with_epochs(values)) == pytest.approx(50)


def test_the_configuration_gives_the_length_too():
    case = make_case(np.ones(100), config=Config(total_steps=1000, epochs=4))
    assert epochs.steps_per_epoch(case) == 250


def test_places_of_different_epochs_are_compared():
    case = with_epochs(np.arange(200) / 50)
    assert epochs.same_place(case, [20, 70, 120]) is True
    assert epochs.same_place(case, [20, 85]) is False


def test_the_start_of_an_epoch_is_near_its_boundary():
    case = with_epochs(np.arange(200) / 50)
    assert epochs.at_epoch_start(case, 101) is True
    assert epochs.at_epoch_start(case, 125) is False
