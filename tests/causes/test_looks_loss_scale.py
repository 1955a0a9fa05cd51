import numpy as np
import pytest

from forensics.causes import _looks_loss_scale as scale
from forensics.causes._looks_precision import scale_steady
from forensics.findings import EpisodeKind, Outcome
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import make_case, make_episode
from tests.causes.facts_of import save, scanned
from tests.causes.failures import non_finite
from tests.causes.shapes import probability, winner

FP16 = Config(precision="fp16", optimizer="adam", lr_peak=1e-3)
DOUBLING = 32_768.0 * 2.0 ** (np.arange(40) // 5)


def _overflown(scales, *, skipped=0.0, config=FP16):
    loss, norm = np.linspace(6.0, 5.0, 40), np.full(40, 0.5)
    loss[21:], norm[20], norm[21:] = np.nan, np.inf, np.nan
    kind = {"kind": "inf"}
    return make_case(
        loss=loss,
        grad_norm=norm,
        tracks={Signal.LOSS_SCALE: scales, Signal.SKIPPED_STEPS: np.full(40, skipped)},
        onset=21,
        outcome=Outcome.NON_FINITE,
        episodes=[
            make_episode(EpisodeKind.NON_FINITE, 21, signal=Signal.GRAD_NORM, **kind),
            non_finite(22),
        ],
        config=config,
    )


def test_a_scale_that_falls_is_checked() -> None:
    falls = np.concatenate([np.full(20, 65_536.0), 65_536.0 / 2.0 ** np.arange(1, 21)])
    assert scale.scale_unchecked(_overflown(falls)).holds is False


def test_a_scale_that_stands_proves_nothing() -> None:
    case = _overflown(np.full(40, 128.0))
    assert scale.scale_unchecked(case).holds is False


def test_a_finite_run_s_scale_may_grow() -> None:
    case = make_case(loss=np.linspace(6, 5, 40), tracks={Signal.LOSS_SCALE: DOUBLING}, config=FP16)
    assert scale.scale_unchecked(case).holds is None


def test_a_scale_that_grows_on_was_never_checked() -> None:
    case = _overflown(DOUBLING)
    assert scale.scale_unchecked(case).holds
    assert scale_steady(case).holds is None
    assert winner(case) == "fp16_overflow"


@pytest.mark.parametrize(
    "config", [FP16, Config(), Config(precision="bf16", lr_peak=1e-3), Config(precision="fp32")]
)
def test_where_the_precision_is_said_or_nothing_is_there_is_nothing_unsaid(config) -> None:
    assert scale.half_unsaid(make_case(loss=[1.0] * 9, config=config)).holds is None


def test_a_run_that_never_names_half_precision_uses_none() -> None:
    loss = np.full(40, 0.5)
    loss[30:] = np.nan
    case = make_case(
        loss=loss,
        onset=31,
        outcome=Outcome.NON_FINITE,
        episodes=[non_finite(31)],
        config=Config(optimizer="sgd", lr_peak=0.02),
    )
    assert scale.half_unsaid(case).holds
    assert probability(case, "fp16_overflow") < 0.03


def test_a_scaler_in_a_checkpoint_names_it() -> None:
    case = scanned(save(10, scale=65_536.0), loss=[1.0] * 9, config=Config(lr_peak=1e-3))
    assert scale.half_unsaid(case).holds is None
    assert scale.half_precision(case).holds
