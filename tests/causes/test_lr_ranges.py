import pytest

from forensics.causes._looks_learning_rate import (
    lr_above_range,
    lr_decayed_early,
    lr_far_above_range,
    lr_high_for_batch,
    lr_tiny,
    lr_zero,
)
from forensics.causes._lr_ranges import OptimizerKind, documented_range, optimizer_kind
from forensics.run import Config
from tests.causes.cases import make_case


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("adamw_torch_fused", OptimizerKind.ADAPTIVE),
        ("DeepSpeedCPUAdam", OptimizerKind.ADAPTIVE),
        ("Adafactor", OptimizerKind.ADAPTIVE),
        ("SGD", OptimizerKind.PLAIN),
        ("LARS", OptimizerKind.PLAIN),
        ("Muon", OptimizerKind.UNKNOWN),
        (None, OptimizerKind.UNKNOWN),
    ],
)
def test_kinds_of_optimizers(name: str | None, kind: OptimizerKind) -> None:
    assert optimizer_kind(make_case(config=Config(optimizer=name))) is kind


def test_betas_betray_adam() -> None:
    case = make_case(config=Config(betas=(0.9, 0.95)))
    assert optimizer_kind(case) is OptimizerKind.ADAPTIVE


@pytest.mark.parametrize(
    ("config", "high", "far"),
    [
        (Config(optimizer="adamw", pretrained=True, lr_peak=5e-5), False, False),
        (Config(optimizer="adamw", pretrained=True, lr_peak=1e-4), True, False),
        (Config(optimizer="adamw", pretrained=True, lora=True, lr_peak=2e-4), False, False),
        (Config(optimizer="adamw", pretrained=True, lora=True, lr_peak=1e-2), True, True),
        (Config(optimizer="adam", lr_peak=3e-3), False, False),
        (Config(optimizer="adam", lr_peak=0.1), True, True),
        (Config(optimizer="sgd", lr_peak=0.1), False, False),
        (Config(optimizer="sgd", lr_peak=1.6, global_batch=4096), False, False),
        (Config(optimizer="sgd", lr_peak=1.0), True, False),
        (Config(lr_peak=0.1), None, None),  # SGD's usual rate: without a name nobody can say
        (Config(lr_peak=1.95), True, False),
    ],
)
def test_what_is_high_depends_on_what_is_trained(
    config: Config, high: bool | None, far: bool | None
) -> None:
    case = make_case(config=config)
    assert lr_above_range(case).holds is high
    assert lr_far_above_range(case).holds is far


def test_unknown_rates_are_not_judged() -> None:
    for look in (lr_above_range, lr_far_above_range, lr_tiny, lr_zero, lr_decayed_early):
        seen = look(make_case())
        assert seen.holds is None
        assert seen.text.startswith("Needs")


def test_only_sgd_is_measured_by_its_batch() -> None:
    images = {"model": "resnet50", "lr_peak": 0.02, "global_batch": 2}
    adam = make_case(config=Config(optimizer="adam", **images))
    sgd = make_case(config=Config(optimizer="sgd", **images))
    assert lr_high_for_batch(adam).holds is None
    assert lr_high_for_batch(sgd).holds is True


def test_a_rate_that_ends_with_the_run_did_not_end_early() -> None:
    to_zero = [1e-3 * (1 - i / 100) for i in range(101)]
    assert lr_decayed_early(make_case(lr=to_zero)).holds is False
    assert lr_decayed_early(make_case(lr=to_zero, config=Config(total_steps=500))).holds is True


def test_fine_tuning_is_named_in_the_text() -> None:
    case = make_case(config=Config(optimizer="adamw", pretrained=True, lr_peak=1e-4))
    assert documented_range(case).name in lr_above_range(case).text
