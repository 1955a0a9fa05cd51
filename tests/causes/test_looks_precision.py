import numpy as np
import pytest

from forensics.causes import _looks_precision as precision
from forensics.findings import EpisodeKind, Severity
from forensics.run import Config, TextEvidence, TextKind
from forensics.signals import Signal
from tests.causes.cases import make_case, make_episode
from tests.causes.failures import broke_to_nan, recipe


def overflows(*steps: int) -> list[TextEvidence]:
    return [TextEvidence(TextKind.OVERFLOW, "overflow", "log", i, s) for i, s in enumerate(steps)]


@pytest.mark.parametrize(
    ("kind", "half", "wide"),
    [("fp16", True, False), ("bf16", False, True), ("fp8", False, None), (None, None, None)],
)
def test_formats(kind: str | None, half: bool | None, wide: bool | None) -> None:
    case = make_case(config=Config(precision=kind))
    assert precision.half_precision(case).holds is half
    assert precision.wide_precision(case).holds is wide


def test_skips_that_calibrate_the_scaler_are_normal() -> None:
    assert precision.steps_skipped(make_case(text=overflows(1, 2, 3, 4, 5))).holds is False
    probes = overflows(2000, 4000, 6000, 8000)
    assert precision.steps_skipped(make_case(text=probes)).holds is False
    cluster = overflows(900, 901, 902, 903)
    assert precision.steps_skipped(make_case(text=cluster)).holds is True


def test_a_fall_that_came_back_is_no_collapse() -> None:
    probe = make_episode(
        EpisodeKind.LOSS_SCALE_COLLAPSE, 5, severity=Severity.INFO, from_scale=8.0, to_scale=1.0
    )
    scale = {Signal.LOSS_SCALE: [8.0, 1.0, 8.0]}
    assert precision.scale_collapsed(make_case(tracks=scale, episodes=[probe])).holds is False
    assert precision.scale_steady(make_case(tracks=scale, episodes=[probe])).holds is True


def test_a_scale_that_never_moves_says_nothing() -> None:
    case = make_case(tracks={Signal.LOSS_SCALE: np.ones(20)})
    assert precision.scale_collapsed(case).holds is None
    assert precision.half_precision(case).holds is None


def test_traces_of_an_overflow() -> None:
    assert precision.overflow_traceless(make_case()).holds is None
    assert precision.overflow_traceless(make_case(grad_norm=[1.0] * 9)).holds is True
    assert precision.overflow_traceless(broke_to_nan()).holds is False


def test_families_pretrained_in_bf16() -> None:
    for name, born in (("t5-base", True), ("resnet50", False)):
        case = make_case(config=recipe(precision="fp16", model=name))
        assert precision.born_in_bf16(case).holds is born


def test_a_norm_that_follows_the_scale_was_not_unscaled() -> None:
    scale = 2.0 ** np.repeat([16, 15, 14, 15, 16], 8)
    tracks = {Signal.LOSS_SCALE: scale}
    assert precision.norm_follows_scale(make_case(grad_norm=2 * scale, tracks=tracks)).holds
    flat = make_case(grad_norm=np.linspace(0.9, 1.1, 40), tracks=tracks)
    assert precision.norm_follows_scale(flat).holds is False


def test_a_noisy_norm_that_doubles_with_the_scale_follows_it() -> None:
    rng = np.random.default_rng(0)
    scale = 2.0 ** (15 + np.arange(300) // 150)
    tracks = {Signal.LOSS_SCALE: scale}
    noisy = 2 * scale * np.exp(0.4 * rng.standard_normal(300))
    assert precision.norm_follows_scale(make_case(grad_norm=noisy, tracks=tracks)).holds
    apart = np.exp(0.4 * rng.standard_normal(300))
    assert precision.norm_follows_scale(make_case(grad_norm=apart, tracks=tracks)).holds is False
    too_noisy = np.exp(5 * rng.standard_normal(300))
    assert precision.norm_follows_scale(make_case(grad_norm=too_noisy, tracks=tracks)).holds is None
