import numpy as np
import pytest

from forensics.causes._looks_weights import first_layers_still
from forensics.signals import Signal
from tests.causes.cases import make_track
from tests.causes.facts_of import change, pair, scanned
from tests.causes.failures import RUN, diverged, recipe, stalled
from tests.causes.shapes import probability, steady, winner

NAME = "vanishing_gradients"


def layers(first: float, last: float) -> list[object]:
    steps = np.arange(1, RUN + 1)
    return [
        make_track(
            Signal.GRAD_NORM_PARAM, steps, steady(size, RUN), tag=f"grad_2.0_norm/layers.{i}.weight"
        )
        for i, size in ((0, first), (5, 1e-2), (11, last))
    ]


def test_not_with_an_ordinary_gradient() -> None:
    assert probability(stalled(), NAME) < 0.1


def test_not_where_the_rate_is_zero() -> None:
    case = stalled(grad_norm=steady(1e-4, RUN), lr=np.zeros(RUN))
    assert winner(case) == "learning_rate_too_low"


def test_not_where_the_loss_diverged() -> None:
    assert probability(diverged(grad_norm=steady(1e-7, RUN)), NAME) < 0.1


def test_a_norm_of_zero_throughout_was_not_measured() -> None:
    assert probability(stalled(grad_norm=np.zeros(RUN)), NAME) < 0.3


@pytest.mark.parametrize("norm", [1e-4, 1e-8])
def test_wins_where_the_gradient_is_tiny_from_the_start(norm: float) -> None:
    assert winner(stalled(grad_norm=steady(norm, RUN))) == NAME


def test_wins_where_the_first_layer_gets_nothing() -> None:
    assert winner(stalled(grad_norm=steady(0.5, RUN), others=layers(1e-7, 0.5))) == NAME


def test_even_layers_speak_against_it() -> None:
    even = stalled(grad_norm=steady(1e-4, RUN), others=layers(1e-2, 1e-2))
    assert probability(even, NAME) < probability(stalled(grad_norm=steady(1e-4, RUN)), NAME)


def test_missing_residuals_speak_for_it() -> None:
    without = stalled(grad_norm=None, config=recipe(raw={"model.residual": False}))
    with_them = stalled(grad_norm=None, config=recipe(raw={"model.residual": True}))
    assert probability(without, NAME) > probability(with_them, NAME)


def test_layers_are_told_by_the_order_of_a_deep_model() -> None:
    def moved(*ways: float) -> object:
        return scanned(pair(*(change(f"dense_{i}/kernel", way) for i, way in enumerate(ways))))

    assert first_layers_still(moved(1e-4, 1e-3, 0.02, 0.3)).holds
    assert first_layers_still(moved(0.1, 0.1, 0.2, 0.3)).holds is False
    assert first_layers_still(moved(1e-4, 0.3)).holds is None
