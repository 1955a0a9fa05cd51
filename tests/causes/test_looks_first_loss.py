import numpy as np
import pytest

from forensics.causes import _looks_first_loss as first_loss
from forensics.findings import Outcome
from forensics.run import Config
from tests.causes.cases import make_case
from tests.causes.shapes import falling, probability, winner

TOKENS = Config(vocab_size=128, optimizer="adamw")


@pytest.mark.parametrize(
    ("first", "far_above", "at_chance"),
    [(2.0, False, False), (2.3, False, True), (2.9, False, True), (9.0, True, True)],
)
def test_the_first_loss_against_a_guess(first: float, far_above: bool, at_chance: bool) -> None:
    case = make_case(loss=[first, 1.0, 1.0], config=Config(num_classes=10))
    assert first_loss.initial_far_above_chance(case).holds is far_above
    assert first_loss.initial_at_chance(case).holds is at_chance


def test_a_guess_is_no_fault_unless_weights_were_to_be_loaded() -> None:
    for pretrained, holds in ((True, True), (False, False), (None, None)):
        config = Config(vocab_size=10, pretrained=pretrained)
        assert (
            first_loss.pretrained_at_chance(make_case(loss=[2.3] * 3, config=config)).holds is holds
        )


def test_a_new_head_for_new_classes_starts_at_chance_in_health() -> None:
    config = Config(num_classes=10, pretrained=True)
    assert first_loss.pretrained_at_chance(make_case(loss=[2.3] * 3, config=config)).holds is None


@pytest.mark.parametrize(
    ("first", "config"),
    [
        (4.9, TOKENS),
        (9.7, Config(vocab_size=128, pretrained=True)),
        (9.7, Config(num_classes=10)),
        (9.7, Config(vocab_size=128, grad_accum=2)),
    ],
)
def test_a_first_loss_that_new_weights_need_not_explain(first: float, config: Config) -> None:
    case = make_case(loss=[first, *falling()], config=config)
    assert not first_loss.wrong_before_steps(case).holds


def test_steps_at_a_high_rate_may_have_made_it_so() -> None:
    case = make_case(loss=[9.7, *falling()], lr=[0.05] * 201, first_step=5, config=TOKENS)
    assert first_loss.wrong_before_steps(case).holds is None


@pytest.mark.parametrize(("begin", "rate"), [(1, 1e-3), (3, 1e-4)])
def test_new_weights_that_cost_far_more_than_a_guess(begin: int, rate: float) -> None:
    loss = 1.8 + 8 * np.exp(-np.arange(200) / 20)
    case = make_case(
        loss=loss,
        lr=np.full(200, rate),
        first_step=begin,
        config=TOKENS,
        outcome=Outcome.STALLED,
        onset=begin,
    )
    assert first_loss.wrong_before_steps(case).holds is True
    assert winner(case) == "poor_initialization"
    assert probability(case, "label_misalignment") < 0.05
