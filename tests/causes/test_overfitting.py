import numpy as np

from forensics.causes import rank
from forensics.findings import Change, EpisodeKind, Outcome
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.shapes import falling, probability, steady, winner


def turned(outcome=Outcome.OVERFIT, others=(), **more):
    episode = make_episode(
        EpisodeKind.OVERFIT,
        80,
        signal=Signal.EVAL_LOSS,
        best_step=80,
        best_value=1.9,
        last_value=2.6,
        rise=0.37,
        train_fall=0.4,
    )
    held_out = np.concatenate([np.linspace(4, 1.9, 4), np.linspace(2, 2.6, 6)])
    return make_case(
        falling(0.2),
        steady(0.6),
        eval_loss=held_out,
        outcome=outcome,
        onset=80,
        episodes=[episode, *others],
        **more,
    )


def test_a_gap_from_the_start_is_not_overfitting():
    episode = make_episode(
        EpisodeKind.VALIDATION_FAILURE, 20, form="gap_from_start", train_level=0.4, eval_level=5.0
    )
    case = make_case(
        falling(0.2),
        eval_loss=np.full(10, 5.0),
        outcome=Outcome.VALIDATION_FAILED,
        onset=20,
        episodes=[episode],
    )
    assert probability(case, "overfitting") < 0.05


def test_a_healthy_run_is_healthy():
    assert probability(healthy_case(), "overfitting") < 0.01


def test_validation_that_turned_while_training_fell_is_overfitting():
    case = turned(config=Config(total_steps=200))
    assert winner(case) == "overfitting"
    kept = "patience 3, keep the best (step 80 in this run)"
    assert rank(case)[0][0].changes == (Change("early_stopping", None, kept),)


def test_one_that_turned_and_ends_far_behind_is_still_overfitting():
    behind = make_episode(
        EpisodeKind.VALIDATION_FAILURE, 80, form="gap_from_start", train_level=0.2, eval_level=2.6
    )
    assert probability(turned(others=[behind]), "overfitting") == probability(
        turned(), "overfitting"
    )
