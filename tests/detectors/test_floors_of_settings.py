"""Floors that settings or batches explain, and healthy runs of unusual settings."""

import numpy as np
import pytest

from forensics.batch_facts import BatchFinding, BatchSurvey, Oddity
from forensics.checkpoint_facts import CheckpointFacts, CheckpointSurvey, WeightFacts
from forensics.detectors import plateau_again
from forensics.findings import Outcome
from forensics.run import Config
from tests.detectors.test_floors import TOP, evaluated, fallen
from tests.detectors.test_silence import outcome_of
from tests.synth import timeline_of

ADAM = {"optimizer": "adamw", "betas": (0.9, 0.999)}
RAW = BatchSurvey(
    everywhere=(BatchFinding(Oddity.INPUT_SCALE, "inputs", "large", 1.0, 900.0, None),)
)
LOT = BatchSurvey(class_shares=(0.1,) * 10, labels_counted=160)


def creeping(n, start, end, seed=0):
    """A loss that halves early and then goes on falling, slower and slower."""
    t = np.arange(n) / n
    noise = 0.02 * np.random.default_rng(seed).standard_normal(n)
    return end + (start - end) * (0.5 * np.exp(-t / 0.05) + 0.5 * (1 - t)) + noise


def saved(*shapes):
    """One checkpoint with matrices of these names and shapes."""
    weights = tuple(
        WeightFacts(name, "param", shape, 100, 0, 50, 0.1, 0.3, 0, 0.3) for name, shape in shapes
    )
    return CheckpointSurvey((CheckpointFacts("step_100.pt", 100, weights=weights),))


def failed(loss, config, **others):
    return outcome_of({"loss": loss, **others}, config=config)[0].outcome.is_failure


class TestSilence:
    @pytest.mark.parametrize(("rate", "decay"), [(3e-4, 0.1), (1e-3, 1.0), (0.03, 0.01)])
    def test_ordinary_settings(self, rate, decay):
        config = Config(vocab_size=128, lr_peak=rate, weight_decay=decay, **ADAM)
        assert not failed(creeping(300, TOP, 0.35 * TOP), config)

    def test_plain_descent_at_its_own_rates(self):
        config = Config(optimizer="sgd", lr_peak=3.2, weight_decay=1e-4, num_classes=10)
        assert not failed(creeping(300, 2.3, 1.1), config)

    @pytest.mark.parametrize("name", ["adagrad", "adadelta", "adafactor", "prodigy"])
    def test_optimizers_with_a_scale_of_their_own(self, name):
        config = Config(optimizer=name, lr_peak=1.0, num_classes=10)
        assert not failed(creeping(300, 2.3, 1.1), config)

    def test_a_high_rate_that_worked(self):
        config = Config(lr_peak=0.3, num_classes=10, **ADAM)
        assert not failed(fallen(300, 2.3, 0.1, 0.5), config)

    def test_a_loss_in_bits(self):
        loss = creeping(300, TOP / np.log(2), 0.3 * TOP)
        evals = evaluated(300, 4.0, 3.0, 2.2, 1.6)
        assert not failed(loss, Config(vocab_size=128), eval_loss=evals)

    def test_mixed_samples_cost_less_than_labels_by_lot(self):
        mixed = self.noisy(rest=1.6)
        assert not plateau_again(mixed, Config(num_classes=10), None, BatchSurvey())

    def test_training_that_is_harder_than_validation(self):
        line = timeline_of(
            {
                "loss": fallen(300, 2.3, 0.9, 0.3, noise=0.05),
                "train_accuracy": fallen(300, 0.1, 0.7, 0.3),
                "eval_loss": evaluated(300, 1.0, 0.6, 0.5, 0.5),
                "eval_accuracy": evaluated(300, 0.6, 0.8, 0.9, 0.9),
            }
        )
        assert not plateau_again(line, Config(num_classes=10), None, LOT)

    def test_a_rare_class_that_is_found(self):
        shares = BatchSurvey(class_shares=(0.97, 0.03), labels_counted=400)
        line = timeline_of(
            {
                "loss": fallen(300, 0.7, 0.03, 0.3, noise=0.002),
                "eval_accuracy": evaluated(300, 0.97, 0.98, 0.985, 0.99),
            }
        )
        assert not plateau_again(line, Config(num_classes=2), None, shares)

    def test_outputs_that_are_no_classes(self):
        line = timeline_of({"loss": fallen(300, 2.3, 2.05, 0.1)})
        shapes = ("0.weight", (64, 20)), ("2.weight", (10, 64))
        assert not plateau_again(line, Config(), saved(*shapes), None)

    def test_a_spike_that_is_soon_over(self):
        loss = fallen(300, TOP, 0.3 * TOP, 0.5)
        loss[60:90] = 3 * TOP
        assert not failed(loss, Config(vocab_size=128))

    @pytest.mark.parametrize("last", [0.01, 0.03, 0.1])
    def test_two_hard_samples_among_those_of_validation(self, last):
        evals = evaluated(300, 0.3, 0.15, 1.1 * last, last, last, last)
        right = evaluated(300, *[0.992] * 6)
        loss = fallen(300, 1.4, 0.01, 0.3, noise=0.002)
        assert not failed(loss, Config(), eval_loss=evals, eval_accuracy=right)

    def test_dropout_makes_training_harder_than_validation(self):
        evals = evaluated(300, 2.4, 2.0, 1.9, 1.85)
        loss = fallen(300, TOP, 0.46 * TOP, 0.5)
        assert not failed(loss, Config(vocab_size=128), eval_loss=evals)

    def test_raw_inputs_that_were_learned_all_the_same(self):
        loss = fallen(300, 2_000.0, 20.0, 0.4, noise=5.0)
        line = timeline_of({"loss": loss, "eval_loss": evaluated(300, 200.0, 40.0, 22.0, 20.0)})
        assert not plateau_again(line, Config(), None, RAW)

    @staticmethod
    def noisy(rest=2.0):
        return timeline_of(
            {
                "loss": fallen(300, 2.4, rest, 0.1, noise=0.1),
                "train_accuracy": fallen(300, 0.1, 0.45, 0.2, noise=0.05),
                "eval_loss": evaluated(300, 1.9, 1.3, 1.2, 1.18),
                "eval_accuracy": evaluated(300, 0.4, 0.8, 0.88, 0.9),
            }
        )


class TestFound:
    @pytest.mark.parametrize(("rate", "decay"), [(0.4, 0.0), (5e-3, 8.0)])
    def test_a_setting_that_no_recipe_uses(self, rate, decay):
        config = Config(vocab_size=128, lr_peak=rate, weight_decay=decay, **ADAM)
        found, _ = outcome_of({"loss": creeping(300, TOP, 0.42 * TOP)}, config=config)
        assert found.outcome is Outcome.STALLED

    def test_characters_that_end_at_their_frequencies(self):
        rate = np.linspace(3e-4, 0, 300)
        loss = 0.7 * TOP + 0.3 * TOP * np.linspace(1, 0, 300)
        found, _ = outcome_of({"loss": loss, "lr": rate}, config=Config(vocab_size=128))
        assert found.outcome is Outcome.STALLED

    def test_characters_that_began_far_off(self):
        loss = creeping(300, 2.0 * TOP, 0.3 * TOP)
        evals = evaluated(300, 6.0, 4.0, 2.5, 1.5)
        found, _ = outcome_of({"loss": loss, "eval_loss": evals}, config=Config(vocab_size=128))
        assert found.outcome is Outcome.STALLED

    def test_the_vocabulary_is_told_by_a_checkpoint(self):
        line = timeline_of({"loss": fallen(300, TOP, 0.55 * TOP, 0.1)})
        survey = saved(("tokens.weight", (128, 32)), ("up.weight", (64, 32)), ("head", (128, 32)))
        assert not plateau_again(line, Config(), None, None)
        assert len(plateau_again(line, Config(), survey, None)) == 1

    def test_a_run_spent_on_the_way_back(self):
        t = np.arange(300)
        loss = 5.0 + 15 * np.exp(-(((t - 100) / 50) ** 2)) - 3.6 * (t / 300)
        assert failed(loss, Config())

    def test_labels_by_lot(self):
        (found,) = plateau_again(TestSilence.noisy(), Config(num_classes=10), None, LOT)
        assert found.details["from_start"]

    def test_one_answer_for_all(self):
        shares = BatchSurvey(class_shares=(0.986, 0.008, 0.006), labels_counted=512)
        line = timeline_of(
            {
                "loss": fallen(300, 1.2, 0.075, 0.3, noise=0.01),
                "eval_accuracy": evaluated(300, 0.99, 0.99, 0.99, 0.99),
            }
        )
        assert len(plateau_again(line, Config(), None, shares)) == 1

    def test_inputs_never_scaled(self):
        loss = fallen(300, 6_000.0, 1_000.0, 0.1, noise=200.0)
        line = timeline_of({"loss": loss, "eval_loss": evaluated(300, 1.4e3, 1.2e3, 1.1e3, 1e3)})
        assert len(plateau_again(line, Config(), None, RAW)) == 1
        assert not plateau_again(line, Config(), None, None)

    def test_noise_around_a_level_that_validation_never_leaves(self):
        loss = 2.38 + 0.06 * np.random.default_rng(0).standard_normal(30)
        evals = evaluated(30, 2.34, 2.367, 2.367, 2.366, 2.367, 2.368, 2.368, 2.366)
        assert failed(loss, Config(), eval_loss=evals)

    def test_one_answer_for_all_is_seen_without_batches(self):
        evals = evaluated(300, 0.29, 0.065, 0.056, 0.052, 0.051, 0.0505, 0.0504)
        right = evaluated(300, *[0.992] * 7)
        loss = fallen(300, 1.4, 0.07, 0.3, noise=0.01)
        assert failed(loss, Config(), eval_loss=evals, eval_accuracy=right)

    def test_characters_by_lot(self):
        evals = evaluated(300, 2.28, 1.94, 1.73, 1.6, 1.51, 1.5)
        loss = fallen(300, TOP, 0.49 * TOP, 0.3)
        assert failed(loss, Config(vocab_size=128), eval_loss=evals)

    def test_validation_that_a_model_which_learned_all_leaves_behind(self):
        evals = evaluated(300, 2.7, 1.9, 2.2, 1.4, 2.1, 1.9, 1.7, 1.8)
        right = evaluated(300, 0.2, 0.5, 0.5, 0.7, 0.55, 0.6, 0.6, 0.6)
        curves = {"eval_loss": evals, "eval_accuracy": right}
        found, _ = outcome_of({"loss": fallen(300, 2.7, 0.1, 0.5), **curves})
        assert found.outcome is Outcome.VALIDATION_FAILED
        found, _ = outcome_of({"loss": fallen(300, 2.7, 1.0, 0.5), **curves})
        assert not found.outcome.is_failure


def test_a_decay_that_forgets_leaves_targets_as_costly_as_they_were():
    noise = 0.2 * np.random.default_rng(0).standard_normal(200)
    loss = np.clip(0.9 + noise, 0.3, None)
    loss[:3] = 0.66
    forgets = Config(**ADAM, weight_decay=20.0, lr_peak=3e-3)
    assert failed(loss, forgets)
    assert not failed(loss, Config(**ADAM, weight_decay=0.01, lr_peak=3e-3))
