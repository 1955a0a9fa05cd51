import numpy as np
import pytest

from forensics.causes.fp16_overflow import CAUSE
from forensics.findings import Ending, EpisodeKind, Severity
from forensics.run import Config, TextKind
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_episode
from tests.causes.failures import RUN, broke_to_nan, diverged, non_finite, recipe
from tests.causes.shapes import probability, steady, winner

NAME = "fp16_overflow"
HALF = recipe(precision="fp16")


def collapse(onset: int, severity: Severity = Severity.WARNING) -> object:
    return make_episode(
        EpisodeKind.LOSS_SCALE_COLLAPSE,
        onset,
        signal=Signal.LOSS_SCALE,
        severity=severity,
        from_scale=65536.0,
        to_scale=1.0,
        halvings=16,
        at_minimum=True,
    )


def collapsing() -> dict[str, object]:
    scale = np.r_[np.full(169, 65536.0), 65536.0 / 2.0 ** np.minimum(np.arange(231), 16)]
    return {
        "tracks": {Signal.LOSS_SCALE: scale},
        "episodes": [collapse(170), non_finite(200)],
        "config": HALF,
    }


def test_a_scaler_that_probes_is_healthy() -> None:
    probe = collapse(2, Severity.INFO)
    scale = {Signal.LOSS_SCALE: np.r_[65536.0, 16384.0, np.full(298, 4096.0)]}
    case = healthy_case(config=HALF, episodes=[probe], tracks=scale, text=[TextKind.OVERFLOW])
    assert winner(case) == "no_failure"


@pytest.mark.parametrize("precision", ["bf16", "fp32", "tf32"])
def test_not_in_a_wide_format(precision: str) -> None:
    assert probability(broke_to_nan(config=recipe(precision=precision)), NAME) < 0.05


def test_a_loss_scale_of_one_is_no_sign_of_fp16() -> None:
    case = broke_to_nan(tracks={Signal.LOSS_SCALE: np.ones(RUN)})
    assert probability(case, NAME) < 0.05


def test_not_where_a_steady_scale_shows_no_overflow() -> None:
    scale = {Signal.LOSS_SCALE: np.full(RUN, 65536.0)}
    case = diverged(100, config=HALF, tracks=scale, grad_norm=steady(0.5, RUN))
    assert probability(case, NAME) < 0.1


def test_wins_where_the_scale_collapsed_before_the_loss() -> None:
    case = broke_to_nan(**collapsing())
    assert winner(case) == NAME
    assert CAUSE.changes(case)[0].after == "bf16"


def test_the_scale_betrays_fp16_where_no_setting_does() -> None:
    case = broke_to_nan(**(collapsing() | {"config": Config()}))
    assert winner(case) == NAME


def test_single_nan_between_ordinary_losses_speak_for_it() -> None:
    single = make_episode(
        EpisodeKind.NON_FINITE,
        200,
        severity=Severity.WARNING,
        ending=Ending.RECOVERED,
        kind="nan",
        persistent=False,
        count=3,
    )
    lasting = broke_to_nan(config=HALF, grad_norm=None, episodes=[non_finite(200)])
    isolated = broke_to_nan(config=HALF, grad_norm=None, episodes=[single])
    assert probability(isolated, NAME) > probability(lasting, NAME)


def test_weights_in_half_precision_break_at_the_first_update() -> None:
    loss = np.r_[0.69, np.full(RUN - 1, np.nan)]
    case = broke_to_nan(2, loss=loss, grad_norm=None, config=HALF, episodes=[non_finite(2)])
    assert winner(case) == NAME
