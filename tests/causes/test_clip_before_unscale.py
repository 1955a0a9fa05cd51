import numpy as np

from forensics.signals import Signal
from tests.causes.failures import broke_to_nan, recipe, stalled
from tests.causes.shapes import probability, winner

NAME = "clip_before_unscale"
HALF = recipe(precision="fp16", num_classes=10)
SCALE = 2.0 ** np.repeat([16, 15, 16, 15, 14, 15, 16, 17, 16, 15], 40)


def test_not_without_a_loss_scale() -> None:
    assert probability(stalled(), NAME) < 0.01


def test_not_without_clipping() -> None:
    off = recipe(precision="fp16", clip_threshold=0.0, num_classes=10)
    assert probability(stalled(config=off), NAME) < 0.05


def test_not_where_the_norm_ignores_the_scale() -> None:
    case = stalled(config=HALF, tracks={Signal.LOSS_SCALE: SCALE})
    assert probability(case, NAME) < 0.01


def test_a_ready_made_trainer_does_it_right() -> None:
    scaled = {"grad_norm": 1.3 * SCALE, "tracks": {Signal.LOSS_SCALE: SCALE}}
    ready = recipe(precision="fp16", num_classes=10, framework="Lightning")
    assert probability(stalled(config=ready, **scaled), NAME) < probability(
        stalled(config=HALF, **scaled), NAME
    )


def test_wins_where_the_norm_follows_the_scale() -> None:
    case = stalled(config=HALF, grad_norm=1.3 * SCALE, tracks={Signal.LOSS_SCALE: SCALE})
    assert winner(case) == NAME


def test_a_nan_alone_is_rather_an_overflow() -> None:
    case = broke_to_nan(config=HALF)
    assert probability(case, NAME) < probability(case, "fp16_overflow")
