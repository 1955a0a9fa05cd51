import numpy as np
import pytest

from forensics.causes import _looks_non_finite as broken
from forensics.findings import EpisodeKind
from forensics.signals import Signal
from tests.causes.cases import make_case, make_episode
from tests.causes.failures import RUN, broke_to_nan, diverged, gradient_jump, non_finite


def test_a_finite_run_breaks_no_way() -> None:
    case = diverged(100)
    assert broken.instant(case).holds is None
    assert broken.isolated_non_finite(case).holds is None
    assert broken.validation_still_finite(case).holds is None
    assert broken.exact_zero(case).holds is False
    assert broken.after_one_update(case).holds is None


def test_a_coarse_log_cannot_show_the_step_before() -> None:
    coarse = broke_to_nan(201, interval=10, episodes=[non_finite(1991)])
    assert broken.calm_before_nan(coarse).holds is True
    assert broken.instant(coarse).holds is None
    assert broken.calm_before_nan(broke_to_nan(interval=500)).holds is None


def test_too_short_a_log_cannot_show_a_band() -> None:
    case = make_case(loss=[2.0, 2.0, np.nan], onset=3, episodes=[non_finite(3)])
    assert broken.instant(case).holds is None


def test_quiet_until_the_last_step() -> None:
    seen = broken.instant(broke_to_nan())
    assert seen.holds is True
    assert "step 200" in seen.text


@pytest.mark.parametrize("scale", [1.0, 8.0])
def test_a_rise_just_before_is_a_warning(scale: float) -> None:
    gradient = np.full(RUN, 0.5)
    gradient[198] *= scale
    gradient[199:] = np.nan
    assert broken.instant(broke_to_nan(grad_norm=gradient)).holds is (scale == 1.0)


def test_an_event_just_before_is_a_warning() -> None:
    case = broke_to_nan(episodes=[gradient_jump(195), non_finite(200)])
    assert broken.instant(case).holds is False
    long_ago = broke_to_nan(episodes=[gradient_jump(20), non_finite(200)])
    assert broken.instant(long_ago).holds is True


def test_isolated_means_that_it_came_back() -> None:
    assert broken.isolated_non_finite(broke_to_nan()).holds is False
    single = non_finite(50, persistent=False, count=1)
    assert broken.isolated_non_finite(diverged(100, episodes=[single])).holds is True


def test_validation_after_the_nan_counts() -> None:
    assert broken.validation_still_finite(broke_to_nan(eval_loss=[2, 2, 2])).holds is True
    lost = broke_to_nan(eval_loss=[2, 2, np.nan])
    assert broken.validation_still_finite(lost).holds is False


def test_the_second_step_is_the_first_update_s() -> None:
    assert broken.after_one_update(broke_to_nan(2, episodes=[non_finite(2)])).holds is True
    assert broken.after_one_update(broke_to_nan(3, episodes=[non_finite(3)])).holds is False


def test_a_hidden_nan_is_named() -> None:
    hidden = make_episode(EpisodeKind.HIDDEN_NON_FINITE, 30, signal=Signal.GRAD_NORM)
    assert broken.exact_zero(diverged(30, episodes=[hidden])).holds is True
