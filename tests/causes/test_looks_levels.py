from dataclasses import replace
from typing import Any

import pytest

from forensics.case import Case
from forensics.causes import _looks_levels as levels
from forensics.findings import Outcome
from forensics.run import Config
from tests.causes.cases import make_case
from tests.causes.shapes import probability, winner

TUNED = Config(model="LLaVA-1.5-7B", lora=True, total_steps=10_000, lr_peak=2e-4)
SMALL = Config(model="small causal LM", grad_accum=2)


def _few(loss: list[float], config: Config, **more: Any) -> Case:
    return make_case(loss, config=config, outcome=Outcome.UNKNOWN, **more)


@pytest.mark.parametrize(
    ("level", "step", "config"),
    [
        (2.1, 2500, TUNED),
        (6.6, 100, TUNED),  # a new modality begins as high
        (6.6, 2500, replace(TUNED, lora=None)),
        (6.6, 2500, replace(TUNED, model="resnet50")),
        (6.6, 2500, replace(TUNED, total_steps=None)),
    ],
)
def test_other_levels_are_not_those_of_a_lost_model(
    level: float, step: int, config: Config
) -> None:
    case = _few([level], config, first_step=step)
    assert not levels.lost_in_midrun(case).holds
    assert not levels.level_of_no_healthy_run(case).holds


def test_a_pretrained_model_at_six_nats_in_midrun_is_lost() -> None:
    case = _few([6.6], TUNED, first_step=2500)
    assert levels.level_of_no_healthy_run(case).holds
    assert probability(case, "no_failure") < 0.02
    falling = _few([6.6], TUNED, first_step=2500, lr=[1e-5])
    assert not levels.lost_at_high_rate(falling).holds
    near_peak = _few([6.6], TUNED, first_step=2500, lr=[1.8e-4])
    assert levels.lost_at_high_rate(near_peak).holds
    assert winner(near_peak) == "learning_rate_too_high"


@pytest.mark.parametrize(
    ("first", "config"),
    [
        (11.3, SMALL),
        (22.6, replace(SMALL, grad_accum=1)),
        (22.6, replace(SMALL, model="unet")),
        (22.6, replace(SMALL, vocab_size=50_257)),  # the exact level is asked elsewhere
    ],
)
def test_a_first_loss_that_a_guess_may_cost_is_no_multiple(first: float, config: Config) -> None:
    assert levels.first_above_any_guess(_few([first, 9.0], config)).holds is None


def test_a_first_loss_above_any_guess_is_a_multiple_of_one_or_nothing() -> None:
    assert levels.first_above_any_guess(_few([22.6, 16.8], SMALL)).holds is True
    assert levels.first_above_any_guess(_few([500.0, 400.0], SMALL)).holds is False
    assert winner(_few([22.6, 16.8], SMALL)) == "gradient_accumulation_scaling"


def test_a_run_whose_end_is_known_is_not_judged_by_a_level() -> None:
    case = make_case([6.6], config=TUNED, first_step=2500, outcome=Outcome.HEALTHY)
    assert levels.level_of_no_healthy_run(case).holds is None
