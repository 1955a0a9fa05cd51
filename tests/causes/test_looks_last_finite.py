import numpy as np
import pytest

from forensics.causes import _looks_last_finite as last
from forensics.causes import _looks_non_finite as broken
from forensics.findings import Outcome
from forensics.run import Axis, Config
from forensics.signals import Signal
from tests.causes.cases import make_case
from tests.causes.failures import non_finite
from tests.causes.shapes import probability, winner

QUIET = np.full(100, 0.5) + 0.01 * np.sin(np.arange(100))
NORMS = np.full(100, 1.0) + 0.1 * np.cos(np.arange(100))
ADAM = Config(optimizer="adam", lr_peak=1e-3)


def _by_epoch(loss, accuracy=None, onset=4, **more):
    tracks = None if accuracy is None else {Signal.TRAIN_ACCURACY: accuracy}
    return make_case(
        loss=loss,
        tracks=tracks,
        onset=onset,
        outcome=Outcome.NON_FINITE,
        episodes=[non_finite(onset)],
        axis=Axis.EPOCH,
        config=ADAM,
        **more,
    )


def _leap(height, *, norms=NORMS, interval=1):
    loss = QUIET.copy()
    loss[60:62], loss[62:] = height, np.nan
    return make_case(
        loss=loss,
        grad_norm=norms,
        onset=1 + 60 * interval,
        interval=interval,
        outcome=Outcome.NON_FINITE,
        episodes=[non_finite(1 + 62 * interval)],
        config=ADAM,
    )


def test_a_finite_run_has_no_last_finite_point() -> None:
    case = make_case(loss=QUIET, grad_norm=NORMS)
    assert last.fell_to_the_last(case).holds is None
    assert last.fits_perfectly(case).holds is None
    assert last.leapt_in_one_batch(case).holds is None


@pytest.mark.parametrize("loss", [[0.2, 0.1, 0.3, np.nan], [0.2, 0.2, 0.2, np.nan]])
def test_a_loss_that_rose_or_stood_did_not_fall(loss: list[float]) -> None:
    assert last.fell_to_the_last(_by_epoch(loss)).holds is False


def test_two_losses_tell_nothing() -> None:
    assert last.fell_to_the_last(_by_epoch([0.2, 0.1, np.nan, np.nan], onset=3)).holds is None


def test_a_nan_at_the_lowest_loss_is_the_operation_s() -> None:
    case = _by_epoch([0.22, 0.017, 0.0057, np.nan, np.nan], [0.92, 0.9997, 1.0, 0.5, 0.5])
    assert last.fell_to_the_last(case).holds
    assert last.fits_perfectly(case).holds
    assert winner(case) == "unstable_loss_function"
    assert probability(case, "learning_rate_too_high") < 0.1


def test_a_half_learned_task_is_not_fitted_perfectly() -> None:
    case = _by_epoch([2.3, 1.9, 1.5, np.nan, np.nan], [0.1, 0.3, 0.45, 0.1, 0.1])
    assert last.fits_perfectly(case).holds is False
    assert last.fits_perfectly(_by_epoch([2.3, 1.9, 1.5, np.nan])).holds is False


def test_an_abort_comes_after_the_last_logged_point() -> None:
    case = make_case(loss=QUIET, outcome=Outcome.NON_FINITE, onset=100, config=ADAM)
    assert broken.calm_before_nan(case).holds
    assert probability(case, "non_finite_input") > probability(case, "learning_rate_too_high")


def test_a_rise_within_reason_is_not_one_batch_s() -> None:
    assert last.leapt_in_one_batch(_leap(4.0)).holds is False
    assert last.leapt_in_one_batch(_leap(2e6, interval=10)).holds is None


def test_a_gradient_out_of_the_ordinary_before_it_is_a_warning() -> None:
    norms = NORMS.copy()
    norms[58:] = 40.0
    assert last.leapt_in_one_batch(_leap(2e6, norms=norms)).holds is False


def test_a_leap_before_any_unusual_update_is_in_the_batch() -> None:
    case = _leap(2e6)
    assert last.leapt_in_one_batch(case).holds
    assert probability(case, "bad_batch") > probability(case, "learning_rate_too_high")
    assert probability(case, "bad_batch") > probability(case, "unstable_loss_function")
