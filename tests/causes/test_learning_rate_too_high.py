from typing import Any

import numpy as np
import pytest

from forensics.causes.learning_rate_too_high import CAUSE
from forensics.findings import Ending, EpisodeKind
from forensics.phrasing import number
from forensics.run import Config
from tests.causes.cases import healthy_case, make_episode
from tests.causes.failures import (
    RUN,
    broke_to_nan,
    cosine,
    diverged,
    divergence,
    non_finite,
    recipe,
)
from tests.causes.shapes import loss_spike, probability, winner

NAME = "learning_rate_too_high"
SGD: dict[str, Any] = {"optimizer": "SGD", "lr_peak": 0.02, "model": "faster_rcnn"}


def fine_tune(peak: float, **more: object) -> dict[str, object]:
    return {"lr": cosine(peak), "config": recipe(pretrained=True, lora=False, **more)}


def test_a_high_rate_that_did_no_harm_is_no_cause() -> None:
    case = healthy_case(config=Config(optimizer="adam", lr_peak=0.1, total_steps=300))
    assert winner(case) == "no_failure"
    assert probability(case, NAME) < 0.05


def test_not_where_the_first_loss_was_already_non_finite() -> None:
    loss = np.full(RUN, np.nan)
    case = broke_to_nan(1, loss=loss, grad_norm=None, episodes=[non_finite(1)])
    assert probability(case, NAME) < 0.05


def test_not_where_the_rate_had_decayed_long_before() -> None:
    case = diverged(380, lr=cosine(3e-4))
    assert probability(case, NAME) < 0.1


def test_less_where_a_lower_rate_failed_as_well() -> None:
    resume = make_episode(
        EpisodeKind.RESUME_JUMP, 60, ending=Ending.RECOVERED, lr_before=3e-4, lr_after=1e-4
    )
    plain = diverged(120, lr=cosine(3e-4))
    again = diverged(120, lr=cosine(3e-4), episodes=[resume, divergence(120)])
    assert probability(again, NAME) < probability(plain, NAME)


def test_less_where_nothing_warned() -> None:
    gradual = [divergence(190, "drift"), non_finite(200)]
    assert probability(broke_to_nan(), NAME) < probability(broke_to_nan(episodes=gradual), NAME)


def test_wins_far_above_the_range_near_the_peak() -> None:
    case = diverged(25, **fine_tune(5e-4))
    assert winner(case) == NAME
    assert probability(case, NAME) > 0.6


def test_wins_for_adam_a_thousand_times_too_high() -> None:
    case = broke_to_nan(4, grad_norm=None, config=Config(optimizer="adam", lr_peak=1.0))
    assert winner(case) == NAME


def test_wins_where_the_loss_returns_only_with_the_rate() -> None:
    loss = np.r_[np.linspace(5, 4, 30), np.linspace(5, 60, 50), np.linspace(60, 4, 320)]
    case = diverged(31, form="from_start", loss=loss, lr=cosine(1.0), config=Config())
    assert winner(case) == NAME


@pytest.mark.parametrize(("batch", "more_likely"), [(2, True), (64, False)])
def test_sgd_is_measured_by_its_batch(batch: int, more_likely: bool) -> None:
    base = diverged(27, config=Config(**SGD))
    case = diverged(27, config=Config(**SGD, global_batch=batch))
    assert (probability(case, NAME) > probability(base, NAME)) is more_likely


def test_repeated_spikes_speak_for_it() -> None:
    spikes = [loss_spike(s, 6.0) for s in (40, 80, 110)]
    case = diverged(120, lr=cosine(3e-4), episodes=[*spikes, divergence(120)])
    assert probability(case, NAME) > probability(diverged(120, lr=cosine(3e-4)), NAME)


@pytest.mark.parametrize(
    ("form", "peak", "after"),
    [("after_spike", 5e-4, 2e-5), ("drift", 3e-5, 2.4e-5), ("after_spike", 3e-5, 1e-5)],
)
def test_the_new_rate_depends_on_what_was_wrong(form: str, peak: float, after: float) -> None:
    case = diverged(25, form=form, **fine_tune(peak))
    (change,) = CAUSE.changes(case)
    assert change.setting == "learning_rate"
    assert (change.before, change.after) == pytest.approx((peak, after), rel=0.02)
    assert number(change.after) in CAUSE.fix(case)[0]


def test_unknown_rate_changes_nothing() -> None:
    assert CAUSE.changes(diverged(config=Config())) == ()
