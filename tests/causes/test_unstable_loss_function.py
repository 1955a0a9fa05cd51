import numpy as np

from forensics.run import TextKind
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_track
from tests.causes.failures import (
    RUN,
    broke_to_nan,
    diverged,
    divergence,
    gradient_jump,
    non_finite,
    recipe,
)
from tests.causes.shapes import probability, winner

NAME = "unstable_loss_function"


def test_not_on_a_healthy_run() -> None:
    assert probability(healthy_case(), NAME) < 0.01


def test_not_where_the_loss_diverged_and_stayed_finite() -> None:
    assert probability(diverged(100), NAME) < 0.05


def test_not_after_a_warning() -> None:
    warned = [divergence(180, "drift"), gradient_jump(190), non_finite(200)]
    assert probability(broke_to_nan(episodes=warned), NAME) < 0.1


def test_not_in_fp16() -> None:
    half = broke_to_nan(config=recipe(precision="fp16"))
    assert probability(half, NAME) < probability(half, "fp16_overflow")


def test_not_where_a_label_out_of_range_is_named() -> None:
    named = broke_to_nan(text=[TextKind.LABEL_OUT_OF_RANGE])
    assert probability(named, NAME) < 0.2


def test_not_at_a_rate_that_breaks_everything() -> None:
    case = broke_to_nan(lr=np.full(RUN, 1.0))
    assert winner(case) == "learning_rate_too_high"


def test_a_loss_with_a_singular_point_counts() -> None:
    named = broke_to_nan(config=recipe(raw={"loss": "triplet"}))
    assert probability(named, NAME) > probability(broke_to_nan(config=recipe()), NAME)


def test_wins_where_only_the_backward_pass_broke() -> None:
    assert winner(broke_to_nan(300, gradient_first=1)) == NAME


def test_one_broken_component_speaks_for_it() -> None:
    grid = np.arange(1, RUN + 1)
    broken = np.where(grid >= 200, np.nan, 1.0)
    parts = [
        make_track(Signal.LOSS_COMPONENT, grid, broken, tag="loss_cls"),
        make_track(Signal.LOSS_COMPONENT, grid, np.full(RUN, 0.3), tag="loss_box"),
    ]
    assert probability(broke_to_nan(others=parts), NAME) > probability(broke_to_nan(), NAME)


def test_a_finite_validation_speaks_for_it() -> None:
    kept = broke_to_nan(eval_loss=[2.2, 2.1, 2.0, 1.9, 1.9])
    assert probability(kept, NAME) > probability(broke_to_nan(), NAME)
