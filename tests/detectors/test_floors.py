"""Runs that rest on a poor floor, and those that only look like it."""

import numpy as np
import pytest

from forensics.findings import Outcome
from forensics.run import Config
from tests.detectors.test_silence import outcome_of

TEXT = Config(vocab_size=128)
TOP = np.log(128)


def fallen(n, start, floor, share, seed=0, noise=0.02):
    """A loss that comes down to ``floor`` within ``share`` of its n points, then is flat."""
    t = np.arange(n)
    rng = np.random.default_rng(seed)
    return floor + (start - floor) * np.exp(-3 * t / (share * n)) + noise * rng.standard_normal(n)


def evaluated(n, *values):
    return np.linspace(n // len(values), n - 1, len(values)).astype(int), np.array(values)


def apart(n, level, seen, right):
    """Training that rests high beside a validation that is ``right`` far more often."""
    loss = fallen(n, np.log(10), level, 0.3, noise=0.12)
    return {
        "loss": loss,
        "train_accuracy": np.linspace(0.1, 3 * seen, n).clip(max=seen),
        "eval_loss": evaluated(n, 1.9, 1.3, 1.1, 1.0, 0.95, 0.9),
        "eval_accuracy": evaluated(n, 0.4, 0.5, 0.55, right, right, right),
    }


def one_class(n, share, seen):
    """A validation accuracy that never moves while its loss comes down to the entropy of it."""
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    return {
        "loss": fallen(n, 1.4, entropy, 0.2),
        "train_accuracy": np.full(n, seen),
        "eval_loss": evaluated(n, *(entropy * np.array([4, 2, 1.1, 1.03, 1.02, 1.02]))),
        "eval_accuracy": evaluated(n, *np.full(6, share)),
    }


class TestSilence:
    @pytest.mark.parametrize("n", [25, 60, 300, 2_000])
    @pytest.mark.parametrize("seed", range(3))
    def test_a_language_model_that_has_converged(self, n, seed):
        loss = fallen(n, TOP, 0.3 * TOP, 0.2, seed)
        assert not outcome_of({"loss": loss}, config=TEXT)[0].outcome.is_failure

    @pytest.mark.parametrize("count", [4, 25, 33])
    def test_bases_and_amino_acids_have_little_to_learn(self, count):
        loss = fallen(300, np.log(count), 0.85 * np.log(count), 0.1)
        config = Config(vocab_size=count)
        assert not outcome_of({"loss": loss}, config=config)[0].outcome.is_failure

    def test_a_short_pretraining_that_goes_on_falling(self):
        t = np.arange(1, 201)
        noise = 0.03 * np.random.default_rng(0).standard_normal(200)
        loss = np.minimum(10.8, 15.5 * t**-0.18) + noise
        config = Config(vocab_size=50_257)
        assert not outcome_of({"loss": loss}, 10, config)[0].outcome.is_failure

    def test_a_loss_in_another_unit(self):
        loss = 8 * fallen(300, TOP, 0.6, 0.5)
        evals = evaluated(300, 2.0, 1.4, 0.9, 0.7, 0.62)
        found, _ = outcome_of({"loss": loss, "eval_loss": evals}, config=TEXT)
        assert not found.outcome.is_failure

    def test_label_smoothing_and_mixing_leave_a_floor(self):
        loss = fallen(300, np.log(10), 0.7 * np.log(10), 0.15, noise=0.1)
        accuracy = np.minimum(0.9, 0.1 + np.linspace(0, 4, 300))
        found, _ = outcome_of(
            {"loss": loss, "train_accuracy": accuracy}, config=Config(num_classes=10)
        )
        assert not found.outcome.is_failure

    @pytest.mark.parametrize(("share", "seen", "right"), [(0.7, 0.45, 0.83), (0.9, 0.4, 0.6)])
    def test_attacked_inputs_and_a_model_on_its_way(self, share, seen, right):
        """Training on attacked inputs leaves up to three quarters of a guess."""
        tags = apart(300, share * np.log(10), seen, right)
        assert not outcome_of(tags)[0].outcome.is_failure

    def test_one_accuracy_of_few_samples_beside_a_training_that_is_right(self):
        tags = one_class(300, 0.95, 1.0)
        assert not outcome_of(tags)[0].outcome.is_failure

    def test_clicks_of_two_classes(self):
        loss = fallen(300, np.log(2), 0.9 * np.log(2), 0.05)
        found, _ = outcome_of({"loss": loss}, config=Config(num_classes=2))
        assert not found.outcome.is_failure

    def test_a_regression_with_noise_that_nothing_explains(self):
        loss = fallen(300, 6.0, 4.0, 0.05, noise=0.4)
        found, _ = outcome_of({"loss": loss, "eval_loss": evaluated(300, 4.2, 4.05, 4.0, 4.0)})
        assert not found.outcome.is_failure

    def test_a_run_that_has_just_begun(self):
        loss = fallen(60, TOP, 0.57 * TOP, 0.3)
        config = Config(vocab_size=128, total_steps=100_000)
        assert not outcome_of({"loss": loss}, config=config)[0].outcome.is_failure

    def test_a_short_plan_that_was_carried_out(self):
        t, top = np.arange(1, 121), np.log(96)
        noise = 0.1 * np.random.default_rng(0).standard_normal(120)
        loss = top * (0.55 + 0.45 * np.exp(-t / 8)) + 0.25 * (1 - t / 120) + noise
        done = Config(vocab_size=96, total_steps=120, schedule="cosine")
        assert not outcome_of({"loss": loss}, config=done)[0].outcome.is_failure
        unplanned, _ = outcome_of({"loss": loss}, config=Config(vocab_size=96))
        assert unplanned.outcome is Outcome.STALLED

    def test_a_trained_model_has_little_to_gain(self):
        loss = fallen(300, 0.55 * TOP, 0.5 * TOP, 0.1)
        config = Config(vocab_size=128, pretrained=True)
        assert not outcome_of({"loss": loss}, config=config)[0].outcome.is_failure

    def test_labels_that_are_easy_and_right_at_once(self):
        loss, right = fallen(300, np.log(4), 0.002, 0.3, noise=0.0005), np.ones(300)
        held_out = evaluated(300, 1.0, 1.0, 1.0)
        tags = {"loss": loss, "train_accuracy": right, "eval_accuracy": held_out}
        assert not outcome_of(tags, config=Config(num_classes=4))[0].outcome.is_failure

    @pytest.mark.parametrize("classes", [2, 4])
    def test_easy_labels_of_which_a_few_are_wrong(self, classes):
        right = 1 - np.random.default_rng(0).binomial(64, 0.012, 200) / 64
        right[:2] = 0.3, 0.8
        loss = fallen(200, np.log(classes), 0.068, 0.3, noise=0.02)
        held_out = evaluated(200, 0.99, 0.99, 0.99, 0.99)
        tags = {"loss": loss, "train_accuracy": right, "eval_accuracy": held_out}
        assert not outcome_of(tags, config=Config(num_classes=classes))[0].outcome.is_failure

    def test_a_rate_printed_with_too_few_digits(self):
        loss = fallen(300, TOP, 1.2, 0.4)
        rate = np.where(np.arange(300) < 90, 1e-4, 0.0)
        evals = evaluated(300, 2.5, 1.6, 1.3, 1.25, 1.22)
        assert not outcome_of({"loss": loss, "lr": rate, "eval_loss": evals})[0].outcome.is_failure


@pytest.mark.parametrize("n", [30, 60, 300, 2_000])
@pytest.mark.parametrize("floor", [0.52, 0.58, 0.7])
class TestTokenFrequencies:
    def test_told_by_the_vocabulary(self, n, floor):
        loss = fallen(n, TOP, floor * TOP, 0.1)
        found, _ = outcome_of({"loss": loss}, config=TEXT)
        assert found.outcome is Outcome.STALLED
        assert found.onset_step <= 0.25 * n

    def test_told_by_a_validation_as_flat(self, n, floor):
        loss = fallen(n, TOP, floor * TOP, 0.1)
        evals = evaluated(n, *(floor * TOP + 0.01 * np.arange(5, 0, -1)))
        found, _ = outcome_of({"loss": loss, "eval_loss": evals})
        assert found.outcome is Outcome.STALLED


def test_a_start_far_above_chance_was_wrong_from_the_first_step():
    loss = fallen(300, 17.0, 2.67, 0.3)
    evals = evaluated(300, 3.4, 2.8, 2.7, 2.67, 2.67)
    found, _ = outcome_of({"loss": loss, "eval_loss": evals}, config=TEXT)
    assert (found.outcome, found.onset_step) == (Outcome.STALLED, 0)


def test_a_trained_model_that_begins_at_chance():
    loss = fallen(100, 1.02 * TOP, 3.5, 0.9)
    found, _ = outcome_of({"loss": loss}, config=Config(vocab_size=128, pretrained=True))
    assert (found.outcome, found.onset_step) == (Outcome.STALLED, 0)


def test_classes_just_below_chance():
    loss = fallen(200, np.log(4), 0.92 * np.log(4), 0.2, noise=0.05)
    found, _ = outcome_of({"loss": loss}, config=Config(num_classes=4))
    assert found.outcome is Outcome.STALLED


def test_a_rate_of_zero_from_the_first_part_on():
    loss = fallen(200, 2.6, 2.0, 0.2, noise=0.02)
    loss[30:] += loss[30] - 2.0
    rate = np.where(np.arange(200) < 30, 0.01, 0.0)
    tags = {"loss": loss, "lr": rate, "eval_loss": evaluated(200, *[2.01] * 6)}
    found, _ = outcome_of(tags)
    assert (found.outcome, found.onset_step) == (Outcome.STALLED, 30)


def test_a_rate_that_soon_comes_to_zero_is_no_end_of_a_schedule():
    loss = fallen(200, TOP, 0.62 * TOP, 0.02)
    rate = np.maximum(0.0, 0.01 * (1 - np.arange(200) / 8))
    found, _ = outcome_of({"loss": loss, "lr": rate}, config=TEXT)
    assert found.outcome is Outcome.STALLED


def test_noise_hides_no_stall_that_validation_shows():
    rng = np.random.default_rng(0)
    tags = {
        "loss": 0.88 + 0.07 * rng.standard_normal(100),
        "eval_loss": evaluated(100, 0.935, 0.933, 0.936, 0.935, 0.935),
    }
    found, _ = outcome_of(tags)
    assert (found.outcome, found.onset_step) == (Outcome.STALLED, 0)


def test_labels_by_lot_show_in_a_validation_that_is_right():
    found, _ = outcome_of(apart(300, 0.88 * np.log(10), 0.42, 0.85))
    assert found.outcome is Outcome.STALLED


def test_one_answer_shows_in_an_accuracy_that_never_moves():
    assert outcome_of(one_class(300, 0.97, 0.965))[0].outcome is Outcome.STALLED


def test_answers_that_are_right_more_often_than_the_loss_tells_are_no_frequencies():
    loss = fallen(60, np.log(7), 1.76, 0.2, noise=0.02)
    risen = 0.55 - 0.35 * np.exp(-np.arange(60) / 12.0)
    logged = {"loss": loss, "train_accuracy": risen, "eval_accuracy": risen - 0.05}
    assert not outcome_of(logged, config=Config(num_classes=7))[0].outcome.is_failure
