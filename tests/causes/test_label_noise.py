import numpy as np

from forensics.findings import Outcome
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import POINTS, plateau, probability, steady, winner

ACCURACY = np.minimum(0.72, 0.1 + np.linspace(0, 2, POINTS))


def rested(episode, accuracy=ACCURACY, **more):
    loss = 1.0 + 1.3 * np.exp(-np.arange(POINTS) / 10) + steady(0.02)
    settings = {"config": Config(num_classes=10), "tracks": {Signal.TRAIN_ACCURACY: accuracy}}
    return make_case(
        loss,
        steady(0.6),
        outcome=Outcome.STALLED,
        onset=episode.onset_step,
        episodes=[episode],
        **(settings | more),
    )


PROGRESS = plateau(1.0, "unnamed", onset=60, improvement=0.55)


def test_no_progress_at_all_is_no_noise():
    assert probability(rested(plateau(2.3, "ln_classes")), "label_noise") < 0.05


def test_label_smoothing_explains_a_better_validation():
    better = {"eval_loss": steady(0.7, 10, noise=0.001)}
    smoothed = Config(num_classes=10, raw={"label_smoothing": 0.1})
    assert probability(rested(PROGRESS, config=smoothed, **better), "label_noise") < probability(
        rested(PROGRESS, **better), "label_noise"
    )


def test_a_healthy_run_is_healthy():
    assert probability(healthy_case(), "label_noise") < 0.01


def test_capped_accuracy_and_a_better_validation_are_noise():
    assert winner(rested(PROGRESS, eval_loss=steady(0.7, 10, noise=0.001))) == "label_noise"
