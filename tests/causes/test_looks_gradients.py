import numpy as np
import pytest

from forensics.causes import _looks_clipping as clipping
from forensics.causes import _looks_gradients as gradients
from forensics.findings import EpisodeKind
from forensics.signals import Signal
from tests.causes.cases import make_case, make_episode
from tests.causes.failures import (
    RUN,
    broke_to_nan,
    diverged,
    divergence,
    gradient_jump,
    non_finite,
    recipe,
)
from tests.causes.shapes import steady

LOOKS = [f for name, f in vars(gradients).items() if name.startswith("gradient_")]


@pytest.mark.parametrize("look", LOOKS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("norm", [None, np.zeros(RUN)], ids=["not logged", "0.000 throughout"])
def test_a_norm_that_was_not_measured_says_nothing(look: object, norm: np.ndarray | None) -> None:
    assert look(diverged(200, grad_norm=norm)).holds in (None, False)
    if not look.__name__.startswith(("gradient_infinite", "gradient_broke")):
        assert look(diverged(200, grad_norm=norm)).holds is None


def test_a_jump_long_before_is_another_story() -> None:
    near = diverged(300, grad_norm=steady(0.5, RUN), episodes=[gradient_jump(299)])
    far = diverged(300, grad_norm=steady(0.5, RUN), episodes=[gradient_jump(100)])
    after = diverged(300, grad_norm=steady(0.5, RUN), episodes=[gradient_jump(310)])
    assert gradients.gradient_jumped(near).holds is True
    assert gradients.gradient_jumped(far).holds is False
    assert gradients.gradient_jumped(after).holds is False


def test_a_small_jump_is_none() -> None:
    small = make_episode(EpisodeKind.GRADIENT_SPIKE, 299, signal=Signal.GRAD_NORM, ratio=4.0)
    case = diverged(300, grad_norm=steady(0.5, RUN), episodes=[small])
    assert gradients.gradient_jumped(case).holds is False


def test_the_gradient_leads_only_where_it_moved_first() -> None:
    norm = steady(0.5, RUN)
    led = {"grad_norm": norm, "episodes": [divergence(304)], "first_mover": Signal.GRAD_NORM}
    assert gradients.gradient_led(diverged(300, **led)).holds is True
    assert gradients.gradient_led(diverged(304, **led)).holds is False
    assert gradients.gradient_led(diverged(300, grad_norm=norm)).holds is False


def test_a_slow_rise_is_not_a_jump() -> None:
    slow = np.r_[np.full(150, 0.5), np.linspace(0.5, 4, 150), np.full(100, 4.0)]
    assert gradients.gradient_grew(diverged(300, grad_norm=slow)).holds is True
    assert gradients.gradient_grew(diverged(300, grad_norm=steady(0.5, RUN))).holds is False
    sudden = np.r_[np.full(298, 0.5), np.full(102, 50.0)]
    assert gradients.gradient_grew(diverged(300, grad_norm=sudden)).holds is False


def test_the_backward_pass_may_break_alone() -> None:
    assert gradients.gradient_broke_first(broke_to_nan(gradient_first=1)).holds is True
    assert gradients.gradient_broke_first(broke_to_nan()).holds is False


def test_infinity_is_not_nan() -> None:
    for kind, holds in (("inf", True), ("nan", False)):
        broken = non_finite(200, signal=Signal.GRAD_NORM, kind=kind)
        assert gradients.gradient_infinite(broke_to_nan(episodes=[broken])).holds is holds


@pytest.mark.parametrize(
    ("threshold", "norm", "off", "loose", "tight"),
    [
        (0.0, 0.5, True, None, False),
        (1.0, 0.5, False, False, True),
        (50.0, 0.5, False, True, False),
        (None, 0.5, None, None, None),
    ],
)
def test_thresholds(
    threshold: float | None, norm: float, off: bool, loose: bool | None, tight: bool | None
) -> None:
    case = diverged(200, grad_norm=steady(norm, RUN), config=recipe(clip_threshold=threshold))
    assert clipping.clipping_off(case).holds is off
    assert clipping.clipping_loose(case).holds is loose
    assert clipping.clipping_tight(case).holds is tight


def test_clipping_after_the_onset_is_the_failure_and_not_its_cause() -> None:
    norm = np.r_[steady(0.5, 199), np.full(RUN - 199, 40.0)]
    assert clipping.clipping_saturated(diverged(200, grad_norm=norm)).holds is False
    assert clipping.clipping_saturated(diverged(200, grad_norm=steady(3.0, RUN))).holds is True
    assert clipping.clipping_frequent(make_case()).holds is None


def test_between_coarse_points_a_jump_may_hide() -> None:
    norm = steady(0.5, RUN)
    fine = diverged(300, grad_norm=norm)
    coarse = diverged(1201, grad_norm=norm, interval=4)
    assert gradients.gradient_jumped(fine).holds is False
    assert gradients.gradient_jumped(coarse).holds is None
    assert gradients.gradient_spiked(coarse).holds is False


def test_a_loss_that_the_logger_made_up_is_no_finite_loss() -> None:
    hidden = make_episode(
        EpisodeKind.HIDDEN_NON_FINITE, 199, signal=Signal.GRAD_NORM, how="nan_filter"
    )
    case = broke_to_nan(
        gradient_first=1, episodes=[non_finite(199, signal=Signal.GRAD_NORM), hidden]
    )
    assert gradients.gradient_broke_first(case).holds is None


def test_mild_clipping_is_not_severe() -> None:
    mild, hard = (diverged(200, grad_norm=steady(n, RUN)) for n in (1.4, 8.0))
    assert clipping.clipping_severe(mild).holds is False
    assert clipping.clipping_severe(hard).holds is True
