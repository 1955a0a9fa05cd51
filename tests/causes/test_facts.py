from math import log

import numpy as np
import pytest

from forensics.causes import _facts as facts
from forensics.run import Axis, Config
from forensics.signals import Signal
from tests.causes.cases import make_case


def test_nothing_logged_gives_no_facts() -> None:
    case = make_case()
    assert facts.points(case.track(Signal.TRAIN_LOSS)) is None
    assert facts.warmup_steps(case) is None
    assert facts.initial_loss(case) is None
    assert facts.chance_loss(case) is None
    assert facts.usual_gradient(case) is None
    assert facts.highest_lr(case) is None


def test_a_norm_of_zero_throughout_was_not_measured() -> None:
    assert facts.overall_gradient(make_case(grad_norm=np.zeros(20))) is None


def test_non_finite_points_are_left_out() -> None:
    found = facts.points(make_case(loss=[1.0, np.nan, np.inf, 2.0]).track(Signal.TRAIN_LOSS))
    assert found is not None
    assert found.step.tolist() == [1, 4]


@pytest.mark.parametrize(
    ("config", "lr", "interval", "expected"),
    [
        (Config(warmup_steps=50), None, 1, 50),
        (Config(warmup_steps=0, warmup_ratio=0.1, total_steps=300), None, 1, 30),
        (Config(warmup_ratio=0.1), None, 1, None),
        (Config(warmup_steps=0), None, 1, 0),
        (Config(), [1e-4, 2e-4, 3e-4, 3e-4], 1, 2),
        (Config(), [3e-4, 3e-4], 1, 0),
        (Config(), [3e-4, 3e-4], 500, None),  # a warm-up of 400 steps would not show
    ],
)
def test_warmup(config: Config, lr: list[float], interval: int, expected: int | None) -> None:
    assert facts.warmup_steps(make_case(lr=lr, interval=interval, config=config)) == expected


def test_a_log_that_begins_late_shows_no_warmup() -> None:
    assert facts.warmup_steps(make_case(lr=[3e-4, 3e-4], first_step=5000)) is None
    assert facts.initial_loss(make_case(loss=[9.0, 2.0], first_step=5000)) is None


@pytest.mark.parametrize(
    ("config", "sure", "limit"),
    [
        (Config(total_steps=100_000), 5000, 5000),
        (Config(total_steps=1000), 50, 250),
        (Config(total_steps=1000, betas=(0.9, 0.95)), 50, 50),
        (Config(total_steps=1000, warmup_steps=200), 600, 600),
        (Config(), 100, 200),
    ],
)
def test_how_long_the_beginning_lasts(config: Config, sure: int, limit: int) -> None:
    case = make_case(loss=np.ones(100), config=config)
    assert facts.surely_early(case) == sure
    assert facts.early_limit(case) == limit


def test_chance_counts_tokens_before_classes() -> None:
    assert facts.chance_loss(make_case(config=Config(num_classes=10)))[0] == log(10)
    both = Config(num_classes=10, vocab_size=32_000)
    assert facts.chance_loss(make_case(config=both))[0] == log(32_000)


def test_the_rate_in_force_is_that_up_to_the_onset() -> None:
    case = make_case(lr=[1e-5, 2e-5, 3e-5, 1e-3], onset=3)
    assert facts.highest_lr(case) == 3e-5
    assert facts.highest_lr(make_case(config=Config(lr_peak=0.1))) == 0.1


@pytest.mark.parametrize(
    ("value", "on"), [("true", True), ("False", False), (0, False), (1e-4, True), ("none", False)]
)
def test_flags_are_read_by_the_last_part_of_their_name(value: object, on: bool) -> None:
    case = make_case(config=Config(raw={"model.attn.qk-norm": value}))
    assert facts.flag(case, "qk_norm") is on
    assert facts.flag(case, "norm") is None


def test_other_axes_do_not_count_steps() -> None:
    assert not facts.counts_steps(make_case(loss=[1.0], axis=Axis.EPOCH))
