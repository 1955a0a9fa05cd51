"""Losses that never were below that of a guess, and losses that are nothing at all."""

import numpy as np
import pytest

from forensics.detectors._outputs import with_outputs
from forensics.findings import Outcome
from forensics.run import Config
from tests.detectors.test_floors_of_settings import saved
from tests.detectors.test_short_log import _analyze
from tests.detectors.test_silence import outcome_of
from tests.synth import timeline_of

LN10 = float(np.log(10))
RNG = np.random.default_rng(3)


def _epochs(losses, accuracies):
    rows = zip(losses, accuracies, strict=True)
    return [f"epoch: {i} loss: {v:.4f} acc: {a:.4f}" for i, (v, a) in enumerate(rows, start=1)]


GUESSES = 0.1 + 0.008 * np.sin(np.arange(15))
DRIFTING = LN10 + 0.05 * np.exp(-np.arange(15) / 4) + 0.003 * np.cos(np.arange(15))


class TestSilence:
    @pytest.mark.parametrize(
        ("losses", "accuracies"),
        [
            (DRIFTING[:3], GUESSES[:3]),  # a smoke test of three epochs
            (DRIFTING, np.linspace(0.1, 0.35, 15)),  # accuracy rises
            (DRIFTING - np.linspace(0, 0.3, 15), GUESSES),  # the loss is below a guess
            (DRIFTING - 0.5, GUESSES),  # an accuracy of something else
        ],
    )
    def test_epochs_that_learn_or_are_too_few(self, tmp_path, losses, accuracies):
        assert not _analyze(tmp_path, _epochs(losses, accuracies)).outcome.is_failure

    def test_a_fine_tune_of_few_epochs(self, tmp_path):
        lines = _epochs(DRIFTING, GUESSES)
        assert not _analyze(tmp_path, lines, "pretrained: true\n").outcome.is_failure

    def test_a_loss_without_an_accuracy(self):
        loss = np.log(4) + 0.1 + 0.2 * RNG.random(40)
        found = outcome_of({"loss": loss}, config=Config(num_classes=4))[0]
        assert "chance" not in found.reason

    def test_losses_near_zero_with_gradients(self):
        found = outcome_of({"loss": np.zeros(30), "grad_norm": np.full(30, 0.2)})[0]
        assert not found.outcome.is_failure


def test_epochs_of_guessing_are_a_stall(tmp_path):
    found = _analyze(tmp_path, _epochs(DRIFTING, GUESSES))
    assert (found.outcome, found.onset_step) == (Outcome.STALLED, 1)
    assert found.episodes[0].details["level_kind"] == "ln_classes"


def test_a_classifier_above_chance_for_a_whole_run_is_a_stall():
    t = np.arange(40)
    loss = np.log(4) + 0.02 + 0.3 * np.exp(-((t - 12) ** 2) / 40) + 0.02 * np.abs(np.sin(t))
    right = 0.25 + 0.02 * np.cos(t)
    config = Config(num_classes=4, optimizer="adamw", lr_peak=0.03)
    found = outcome_of({"loss": loss, "accuracy": right}, config=config)[0]
    assert found.outcome is Outcome.STALLED


def test_nothing_but_zeros_is_a_stall():
    found = outcome_of({"loss": np.zeros(16), "grad_norm": np.zeros(16)})[0]
    assert found.outcome is Outcome.STALLED


@pytest.mark.parametrize(("count", "named"), [(63, True), (64, True), (127, True), (100, False)])
def test_a_contrastive_loss_guesses_among_its_batch(count, named):
    loss = np.log(count) + 0.004 * RNG.standard_normal(80)
    found, episodes = outcome_of({"loss": loss}, config=Config(micro_batch=64))[:2]
    assert found.outcome is Outcome.STALLED
    kinds = {e.details.get("level_kind") for e in episodes}
    assert ("ln_batch" in kinds) is named


class TestOutputs:
    def test_layers_of_equal_shape_are_no_table(self):
        line = timeline_of({"loss": np.ones(5)})
        square = saved(("a", (64, 64)), ("b", (64, 64)), ("c", (64, 64)))
        assert with_outputs(Config(), square, line).vocab_size is None
        funnel = saved(("a", (64, 8)), ("b", (64, 64)), ("c", (1, 64)))
        assert with_outputs(Config(), funnel, line).vocab_size is None

    def test_a_table_behind_that_of_positions(self):
        line = timeline_of({"loss": np.ones(5)})
        model = saved(("pe", (16, 64)), ("src.weight", (45, 64)), ("x", (9, 64)), ("o", (45, 64)))
        assert with_outputs(Config(), model, line).vocab_size == 45
