import numpy as np

from forensics.findings import Outcome
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import POINTS, plateau, probability, steady, winner


def rested(level, kind, accuracy):
    loss = level + (2.3 - level) * np.exp(-np.arange(POINTS) / 4) + steady(0.01)
    return make_case(
        loss,
        steady(0.6),
        np.full(POINTS, 1e-3),
        outcome=Outcome.STALLED,
        onset=20,
        episodes=[plateau(level, kind, onset=20, improvement=0.8)],
        config=Config(num_classes=10),
        tracks={Signal.EVAL_ACCURACY: accuracy},
    )


def test_a_uniform_guess_is_not_imbalance():
    assert probability(rested(2.3, "ln_classes", steady(0.1)), "class_imbalance") < 0.05


def test_accuracy_that_rises_is_not_imbalance():
    rising = rested(0.33, "unnamed", np.linspace(0.1, 0.9, POINTS))
    flat = rested(0.33, "unnamed", np.full(POINTS, 0.9))
    assert probability(rising, "class_imbalance") < 0.5 < probability(flat, "class_imbalance")


def test_a_healthy_run_is_healthy():
    assert probability(healthy_case(), "class_imbalance") < 0.01


def test_a_low_level_with_flat_high_accuracy_is_imbalance():
    assert winner(rested(0.33, "label_entropy", np.full(POINTS, 0.9))) == "class_imbalance"


def test_an_accuracy_that_never_moves_while_the_loss_falls_is_one_answer():
    def answered(accuracy):
        loss = 0.06 + 1.1 * np.exp(-np.arange(POINTS) / 30) + steady(0.03)
        return make_case(
            loss,
            steady(0.6),
            outcome=Outcome.STALLED,
            onset=60,
            episodes=[plateau(0.06, "label_entropy", onset=60, improvement=0.9)],
            config=Config(num_classes=4),
            eval_loss=[0.97, 0.3, 0.1, 0.062, 0.06, 0.06],
            tracks={Signal.EVAL_ACCURACY: accuracy},
        )

    moved = np.array([0.7, 0.8, 0.9, 0.95, 0.97, 0.99])
    assert probability(answered(moved), "class_imbalance") < 0.3
    assert winner(answered(np.full(6, 0.99))) == "class_imbalance"
