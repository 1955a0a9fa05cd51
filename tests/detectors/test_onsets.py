"""Where a failure began, where noise, a fall or a sawtooth hides it; and what is none."""

import numpy as np
import pytest

from forensics.findings import Outcome
from tests import synth
from tests.detectors.test_floors import evaluated
from tests.detectors.test_silence import outcome_of


def falling(n, decades, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    return np.exp(-decades * np.log(10) * np.arange(n) / n + noise * rng.standard_normal(n))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("decades", [3, 6, 12])
def test_a_fall_by_powers_of_ten_has_no_spike(seed, decades):
    found, _ = outcome_of({"loss": falling(200, decades, seed)})
    assert found.outcome is Outcome.HEALTHY


def test_multiples_of_next_to_nothing_are_no_spikes():
    loss = falling(200, 6)
    loss[150] *= 50
    assert outcome_of({"loss": loss})[0].outcome is Outcome.HEALTHY


@pytest.mark.parametrize("seed", range(5))
def test_a_drift_at_a_level_next_to_nothing_is_no_divergence(seed):
    rng = np.random.default_rng(seed)
    loss = np.maximum(np.exp(-np.arange(500) / 30), 0.007 + 0.00004 * np.arange(500))
    loss *= np.exp(0.3 * rng.standard_normal(500))
    assert not outcome_of({"loss": loss})[0].outcome.is_failure


@pytest.mark.parametrize("seed", range(5))
def test_noise_as_large_as_the_level_is_not_what_was_learned_lost_again(seed):
    rng = np.random.default_rng(seed)
    loss = 1.2 * np.exp(0.6 * rng.standard_normal(400) - 0.18)
    assert not outcome_of({"loss": loss})[0].outcome.is_failure


def test_a_validation_that_was_never_finite_is_no_failure():
    loss = synth.power_law(300, np.random.default_rng(0))
    found, _ = outcome_of({"loss": loss, "eval_loss": evaluated(300, *[np.nan] * 6)})
    assert found.outcome is Outcome.HEALTHY


def test_a_validation_that_becomes_non_finite_is_one():
    loss = synth.power_law(300, np.random.default_rng(0))
    found, _ = outcome_of({"loss": loss, "eval_loss": evaluated(300, 4, 3, 2.5, *[np.nan] * 3)})
    assert found.outcome is Outcome.VALIDATION_FAILED


def test_a_validation_summed_over_batches_is_no_failure():
    train = np.geomspace(1.4, 0.3, 300)
    evals = evaluated(300, *(20 * np.geomspace(1.2, 0.35, 8)))
    assert not outcome_of({"loss": train, "eval_loss": evals})[0].outcome.is_failure


def test_a_validation_never_below_the_untrained_model_fails():
    train = np.geomspace(1.4, 0.3, 300)
    evals = evaluated(300, 2.1, 2.4, 2.8, 1.8, 2.1, 2.2, 2.1, 1.9, 2.1, 2.4, 2.3, 2.5)
    found, _ = outcome_of({"loss": train, "eval_loss": evals})
    assert found.outcome is Outcome.VALIDATION_FAILED


def test_steps_that_a_scaler_skipped_long_before_are_not_the_onset():
    rng = np.random.default_rng(0)
    loss, norm = synth.power_law(300, rng), np.exp(0.2 * rng.standard_normal(300))
    loss[200:], norm[200:] = np.nan, np.nan
    norm[[40, 90]] = np.inf
    found, _ = outcome_of({"loss": loss, "grad_norm": norm})
    assert (found.outcome, found.onset_step) == (Outcome.NON_FINITE, 200)


def test_a_spike_within_a_fall_by_powers_of_ten():
    loss = falling(120, 20)
    loss[16:18] = 0.06, 0.01
    loss[31:34] = 0.02, 0.09, 0.0025
    loss[60:64] = 0.08, 0.09, 5e-4, 1e-6
    found, _ = outcome_of({"loss": loss}, 10)
    assert found.outcome is Outcome.SPIKED_RECOVERED
    assert found.onset_step == 160


def test_a_steady_climb_began_where_it_left_the_best_level():
    t = np.arange(60)
    noise = 0.02 * np.random.default_rng(0).standard_normal(60)
    loss = 2.4 + 2.7 * np.exp(-t / 3) + 27 * np.clip((t - 16) / 40, 0, 1) ** 1.7 + noise
    found, _ = outcome_of({"loss": loss}, 5)
    assert found.outcome is Outcome.DIVERGED
    assert abs(found.onset_step - 16 * 5) <= 15


@pytest.mark.parametrize("seed", range(3))
def test_classes_one_after_the_other(seed):
    rng = np.random.default_rng(seed)
    phase = np.arange(700) % 40 / 40
    loss = (0.2 + 5 * np.exp(-4 * phase)) * np.exp(0.1 * rng.standard_normal(700))
    loss[:40] = np.geomspace(1.4, 3e-4, 40)
    found, _ = outcome_of({"loss": loss, "eval_loss": evaluated(700, 1.7, 1.4, 1.4, 2.5, 1.9, 4)})
    assert found.outcome.is_failure
    assert found.onset_step == 40


def test_single_steps_that_a_scaler_skipped_are_not_the_onset_however_near_they_are():
    rng = np.random.default_rng(0)
    loss, norm = synth.power_law(500, rng), np.exp(0.2 * rng.standard_normal(500))
    lost = 170 + np.flatnonzero(rng.random(330) < 0.7)
    loss[lost], norm[lost] = np.inf, np.nan
    loss[[170, 499]], norm[[170, 499]] = np.inf, np.nan
    norm[[42, 81, 126]] = np.inf
    found, _ = outcome_of({"loss": loss, "grad_norm": norm})
    assert (found.outcome, found.onset_step) == (Outcome.NON_FINITE, 170)


def test_a_series_of_spikes_begins_with_the_first_that_is_many_times_its_own_level():
    loss = falling(400, 9, noise=0.1)
    loss[150:160] = 0.008 * np.exp(-np.arange(10))
    loss[300:320] = 0.5 * np.exp(-np.arange(20) / 2)
    found, _ = outcome_of({"loss": loss})
    assert (found.outcome, found.onset_step) == (Outcome.SPIKED_RECOVERED, 150)


def test_a_climb_out_of_the_noise_ends_where_nothing_is_inside_any_more():
    rng = np.random.default_rng(0)
    loss = 2.0 + np.exp(-np.arange(400) / 20) + 0.05 * rng.standard_normal(400)
    loss[250:] += 0.02 * np.arange(150)
    found, _ = outcome_of({"loss": loss})
    assert 250 <= found.onset_step <= 270
