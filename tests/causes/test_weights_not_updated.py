from dataclasses import replace

import numpy as np

from forensics.causes.weights_not_updated import CAUSE
from forensics.run import TextKind
from forensics.signals import Signal
from tests.causes.cases import healthy_case
from tests.causes.facts_of import change, pair, scanned
from tests.causes.failures import RUN, diverged, recipe, stalled
from tests.causes.shapes import plateau, probability, winner

NAME = "weights_not_updated"


def test_not_where_validation_moves() -> None:
    assert probability(stalled(eval_loss=[2.31, 2.305, 2.302, 2.303]), NAME) < 0.05


def test_not_where_the_rate_is_zero() -> None:
    case = stalled(lr=np.zeros(RUN), eval_loss=np.full(5, 2.31))
    assert winner(case) == "learning_rate_too_low"


def test_not_where_the_loss_had_fallen_first() -> None:
    fell = stalled(episodes=[plateau(2.3, "unnamed", onset=60, improvement=0.4)])
    assert probability(fell, NAME) < 0.1


def test_not_where_the_run_diverged() -> None:
    assert probability(diverged(eval_loss=np.full(5, 2.31)), NAME) < 0.2


def test_a_warning_about_frozen_parts_does_not_spoil_a_healthy_run() -> None:
    assert probability(healthy_case(text=[TextKind.GRADIENTS_ABSENT]), NAME) < 0.05


def test_a_warning_that_weights_get_no_gradient_counts() -> None:
    warned = stalled(text=[TextKind.GRADIENTS_ABSENT])
    assert probability(warned, NAME) > 2 * probability(stalled(), NAME)


def test_wins_where_validation_repeats_itself() -> None:
    assert winner(stalled(eval_loss=np.full(5, 2.31))) == NAME


def test_wins_where_the_parameter_norm_stands_still() -> None:
    assert winner(stalled(tracks={Signal.PARAM_NORM: np.full(RUN, 31.4)})) == NAME


def test_small_updates_in_bf16_are_lost() -> None:
    at_rate = stalled(lr=np.full(RUN, 6e-6), config=recipe(pretrained=True))
    assert probability(at_rate, NAME) > probability(stalled(), NAME)
    assert "fp32" in CAUSE.fix(at_rate)[0]


def test_equal_bits_outweigh_validations_that_two_logs_rounded_differently() -> None:
    still = [change(f"layer.{k}.weight", 0.0) for k in range(6)]
    survey = scanned(pair(*still)).survey
    evals = [1.38701, 1.387, 1.38701, 1.387]
    frozen = replace(stalled(eval_loss=evals), survey=survey)
    assert winner(frozen) == NAME
    moved = [change(f"layer.{k}.weight", 0.01) for k in range(6)]
    learning = replace(stalled(eval_loss=evals), survey=scanned(pair(*moved)).survey)
    assert probability(learning, NAME) < 0.05
