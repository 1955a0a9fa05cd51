import numpy as np

from forensics.signals import Signal
from tests.causes.failures import RUN, diverged, recipe, settled, stalled
from tests.causes.shapes import probability, steady, winner

NAME = "dead_units"
RELU = recipe(activation="relu")


def silent(**more: object) -> dict[str, object]:
    gradient = np.r_[steady(0.8, 249), np.full(RUN - 249, 1e-3)]
    return {"grad_norm": gradient, "lr": np.full(RUN, 5e-4), "config": RELU, **more}


def test_not_where_no_unit_can_die() -> None:
    assert probability(settled(**silent(config=recipe(activation="gelu"))), NAME) < 0.15


def test_not_with_a_living_gradient() -> None:
    assert probability(settled(**silent(grad_norm=steady(0.8, RUN))), NAME) < 0.1


def test_not_from_the_first_step() -> None:
    assert probability(stalled(config=RELU), NAME) < 0.05


def test_not_where_the_loss_climbs_away() -> None:
    assert probability(diverged(250, config=RELU), NAME) < 0.05


def test_wins_where_the_gradient_died_after_a_jump() -> None:
    assert winner(settled(**silent())) == NAME


def test_zero_gradients_that_spread_speak_for_it() -> None:
    zeros = {Signal.ZERO_GRADS: np.r_[np.full(249, 100.0), np.full(RUN - 249, 9000.0)]}
    assert probability(settled(**silent(tracks=zeros)), NAME) > probability(
        settled(**silent()), NAME
    )
