"""Validation apart from training: what is health, what turned, what never followed."""

import numpy as np
import pytest

from forensics.findings import Outcome
from forensics.run import Config
from tests.detectors.test_silence import outcome_of

STEPS = 600
TRAIN = np.geomspace(2.3, 0.15, STEPS)
AT = np.arange(20, STEPS, 29)
NOISY = 0.03 * np.random.default_rng(0).standard_normal(len(AT))


def told(evals, seen=None, right=None, config=None, train=TRAIN, first=0):
    """The judgement of a run whose validation costs ``evals`` and is ``right`` so often."""
    tags = {"loss": train, "eval_loss": (AT, np.asarray(evals))}
    if seen is not None:
        tags["train_accuracy"] = np.linspace(0.1, 2 * seen, len(train)).clip(max=seen)
        tags["eval_accuracy"] = (AT, np.linspace(0.1, 2 * right, len(AT)).clip(max=right))
    tags = {
        tag: (data[0] + first, data[1])
        if isinstance(data, tuple)
        else (np.arange(len(data)) + first, data)
        for tag, data in tags.items()
    }
    return outcome_of(tags, config=config)[0]


def rising(low, high, turn=6):
    """Validation losses that fall to ``low`` and rise to ``high``."""
    down, up = np.linspace(2.0, low, turn), np.linspace(low, high, len(AT) - turn + 1)
    return np.concatenate([down, up[1:]])


class TestHealth:
    def test_many_classes_known_by_heart_of_which_validation_learned_most(self):
        evals = np.geomspace(2.2, 0.8, len(AT)) + NOISY
        assert not told(evals, 0.99, 0.7).outcome.is_failure

    def test_a_loss_that_creeps_up_while_the_accuracy_holds(self):
        assert not told(rising(0.8, 1.2), 0.99, 0.8).outcome.is_failure

    def test_a_trained_model_had_little_to_learn(self):
        evals = 1.4 + NOISY
        assert not told(evals, 0.99, 0.7, Config(pretrained="bert")).outcome.is_failure

    def test_a_log_that_begins_late_does_not_show_an_untrained_model(self):
        evals = np.linspace(1.5, 1.4, len(AT))
        assert not told(evals, 0.99, 0.7, first=50_000).outcome.is_failure

    def test_a_validation_as_often_right_as_training(self):
        evals = np.linspace(2.0, 1.3, len(AT)) + NOISY
        assert not told(evals, 0.8, 0.75).outcome.is_failure


class TestFailure:
    def test_known_samples_beside_unknown_ones_are_a_failure_though_the_accuracy_holds(self):
        swinging = np.linspace(1.9, 1.5, len(AT)) + 6 * NOISY
        found = told(swinging, 0.98, 0.6)
        assert found.outcome is Outcome.VALIDATION_FAILED

    def test_in_percent_too(self):
        swinging = np.linspace(1.9, 1.5, len(AT)) + 6 * NOISY
        assert told(swinging, 98.0, 60.0).outcome is Outcome.VALIDATION_FAILED

    def test_one_that_costs_more_than_untrained_is_not_excused_by_its_accuracy(self):
        assert told(rising(1.3, 2.5), 1.0, 0.67).outcome is Outcome.OVERFIT

    def test_the_best_evaluation_is_where_it_turned_and_still_normal(self):
        found = told(rising(0.8, 2.6))
        assert found.outcome is Outcome.OVERFIT
        assert found.onset_step == found.after_step == AT[5]

    @pytest.mark.parametrize("far", [1.8, 3.5])
    def test_one_that_turned_is_overfitted_however_far_behind_it_ends(self, far):
        assert told(rising(0.9, far)).outcome is Outcome.OVERFIT
