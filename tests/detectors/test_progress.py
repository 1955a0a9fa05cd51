"""Whether a run learned at all: noise neither hides a verdict nor feigns progress."""

import numpy as np
import pytest

from forensics.findings import EpisodeKind, Outcome
from forensics.run import Config
from tests.detectors.test_silence import outcome_of

CLASSES = Config(num_classes=10)
PRETRAINED = Config(pretrained=True)


def batch_accuracy(rng, n, share=0.1, batch=32):
    return rng.binomial(batch, share, n) / batch


def accuracy_that_rises(rng, n):
    return rng.binomial(32, np.linspace(0.1, 0.8, n)) / 32


@pytest.mark.parametrize("seed", range(20))
def test_a_fall_that_noise_could_hide_is_no_stall(seed):
    rng = np.random.default_rng(seed)
    loss = np.linspace(2.0, 1.9, 60) * np.exp(0.2 * rng.standard_normal(60))
    assert outcome_of({"loss": loss})[0].outcome is Outcome.HEALTHY


@pytest.mark.parametrize("seed", range(5))
def test_a_loss_that_falls_only_at_the_end_is_no_stall(seed):
    rng = np.random.default_rng(seed)
    loss = 2.4 * np.exp(0.01 * rng.standard_normal(300))
    loss[270:] *= np.linspace(1.0, 0.6, 30)
    assert outcome_of({"loss": loss})[0].outcome is Outcome.HEALTHY


@pytest.mark.parametrize("seed", range(5))
def test_a_trained_model_that_gains_two_percent_is_no_stall(seed):
    rng = np.random.default_rng(seed)
    loss = 2.0 * (0.98 + 0.02 * np.exp(-np.arange(100) / 5)) + 0.002 * rng.standard_normal(100)
    assert outcome_of({"loss": loss}, config=PRETRAINED)[0].outcome is Outcome.HEALTHY


def test_a_rising_accuracy_clears_a_loss_that_looks_flat():
    rng = np.random.default_rng(0)
    loss = 2.0 + 0.02 * rng.standard_normal(200)
    tags = {"loss": loss, "train_acc": accuracy_that_rises(rng, 200)}
    assert outcome_of(tags, config=CLASSES)[0].outcome is Outcome.HEALTHY


def test_an_accuracy_of_zero_does_not_fit_the_task_and_says_nothing():
    rng = np.random.default_rng(0)
    loss = 1.0 + 4.0 * np.exp(-np.arange(200) / 3) + 0.02 * rng.standard_normal(200)
    assert outcome_of({"loss": loss, "train_acc": np.zeros(200)})[0].outcome is Outcome.HEALTHY


def test_a_regression_that_overshoots_and_settles_low_is_no_guess():
    loss = np.full(200, 1.25) + 0.003 * np.random.default_rng(0).standard_normal(200)
    loss[:4] = [50.0, 700.0, 300.0, 9.0]
    assert not outcome_of({"loss": loss})[0].outcome.is_failure


@pytest.mark.parametrize("n", [30, 100, 1_000])
@pytest.mark.parametrize("seed", range(4))
def test_the_jumps_of_a_small_batchs_accuracy_are_no_progress(n, seed):
    rng = np.random.default_rng(seed)
    tags = {
        "loss": np.log(10) + 0.02 * rng.standard_normal(n),
        "train_acc": batch_accuracy(rng, n),
    }
    judgement, _ = outcome_of(tags, config=CLASSES)
    assert judgement.outcome is Outcome.STALLED


@pytest.mark.parametrize("classes", [CLASSES, Config()])
def test_a_model_destroyed_at_once_is_stalled_wherever_its_loss_rests(classes):
    rng = np.random.default_rng(0)
    loss = 2.6 + 0.25 * rng.random(300)
    loss[:6] = [5.3, 31_000.0, 9_000.0, 40.0, 8.0, 4.0]
    tags = {"loss": loss, "train_acc": batch_accuracy(rng, 300)}
    judgement, _ = outcome_of(tags, config=classes)
    assert judgement.outcome is Outcome.STALLED
    assert judgement.onset_step <= 2


def test_a_loss_that_jumps_at_once_and_rests_at_a_guess_is_stalled():
    loss = np.log(10) + 0.006 * np.random.default_rng(0).standard_normal(180)
    loss[:3] = [55.0, 706.0, 30.0]
    assert outcome_of({"loss": loss})[0].outcome is Outcome.STALLED


def level_of(accuracy, level, n=200):
    """What the level of a flat loss is taken for, beside such accuracies."""
    rng = np.random.default_rng(1)
    tags = {
        "loss": level + 0.02 * rng.standard_normal(n),
        "train_accuracy": batch_accuracy(rng, n, accuracy),
    }
    _, episodes = outcome_of(tags)
    (found,) = (e for e in episodes if e.kind is EpisodeKind.PLATEAU)
    return found.details["level_kind"]


@pytest.mark.parametrize(
    ("accuracy", "level"), [(0.3, np.log(10)), (0.1, 2.35), (0.04, np.log(13))]
)
def test_a_level_that_accuracy_does_not_bear_out_has_no_such_name(accuracy, level):
    assert level_of(accuracy, level) != "ln_classes"


@pytest.mark.parametrize("classes", [4, 10])
def test_loss_and_accuracy_show_the_number_of_classes(classes):
    assert level_of(1 / classes, np.log(classes)) == "ln_classes"
