"""What must not set anything off: healthy shapes at many lengths, intervals and seeds."""

import numpy as np
import pytest

from forensics.detectors import all_detectors, detect_all
from forensics.findings import Outcome, Severity
from forensics.outcome import judge
from forensics.run import Config
from tests import synth

LENGTHS = ((12, 50), (40, 1), (150, 10), (400, 50), (1_000, 1), (8_000, 5))


def outcome_of(tags, interval=1, config=None):
    timeline = synth.timeline_of(tags, interval)
    episodes, _ = detect_all(timeline, config or Config())
    return judge(timeline, episodes), episodes


@pytest.mark.parametrize("shape", synth.HEALTHY)
@pytest.mark.parametrize(("n", "interval"), LENGTHS)
def test_healthy_shapes_are_no_failures(shape, n, interval):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        loss = synth.HEALTHY[shape](n, rng)
        judgement, episodes = outcome_of({"loss": loss}, interval)
        assert not judgement.outcome.is_failure, judgement.reason
        assert not [e for e in episodes if e.severity is Severity.FAILURE]


@pytest.mark.parametrize("shape", ["power_law", "correlated", "preference", "step_decay"])
def test_quiet_shapes_are_called_healthy(shape):
    rng = np.random.default_rng(0)
    judgement, _ = outcome_of({"loss": synth.HEALTHY[shape](2_000, rng)})
    assert judgement.outcome is Outcome.HEALTHY
    assert judgement.onset_step is None


def test_noise_in_the_gradient_norm_alone_is_no_failure():
    rng = np.random.default_rng(0)
    n = 3_000
    norm = np.exp(0.5 * rng.standard_normal(n))
    norm[[500, 900, 2_000]] *= 200
    judgement, episodes = outcome_of({"loss": synth.power_law(n, rng), "grad_norm": norm})
    assert judgement.outcome is Outcome.HEALTHY
    assert {e.kind for e in episodes} <= {"gradient_spike", "gradient_explosion"}


def test_rewards_make_a_rising_loss_no_divergence():
    rng = np.random.default_rng(0)
    loss = 1e-3 * np.linspace(0, 3, 300) + 1e-4 * rng.standard_normal(300)
    judgement, _ = outcome_of({"loss": loss, "reward": np.linspace(0.4, 1.5, 300)})
    assert judgement.outcome is Outcome.HEALTHY


def test_a_validation_loss_that_rises_while_accuracy_holds_is_no_failure():
    train = np.geomspace(2.0, 0.2, 1_000)
    evals = (np.arange(0, 1_000, 100), np.array([2, 1.5, 1.4, 1.45, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0]))
    accuracy = (evals[0], np.array([0.3, 0.5, 0.6, 0.65, 0.67, 0.68, 0.68, 0.69, 0.69, 0.69]))
    judgement, _ = outcome_of({"loss": train, "eval_loss": evals, "eval_accuracy": accuracy})
    assert judgement.outcome is Outcome.HEALTHY


def test_an_early_probing_loss_scale_is_calibration():
    rng = np.random.default_rng(0)
    scale = np.full(1_000, 1024.0)
    scale[:7] = [65536, 32768, 16384, 8192, 4096, 2048, 1024]
    _, episodes = outcome_of({"loss": synth.power_law(1_000, rng), "loss_scale": scale})
    assert not [e for e in episodes if e.kind == "loss_scale_collapse"]


def test_a_norm_that_was_never_measured_says_nothing():
    rng = np.random.default_rng(0)
    judgement, episodes = outcome_of(
        {"loss": synth.power_law(500, rng), "grad_norm": np.zeros(500)}
    )
    assert judgement.outcome is Outcome.HEALTHY
    assert episodes == ()


@pytest.mark.parametrize(
    "loss",
    [
        np.empty(0),
        np.array([1.0]),
        np.full(50, np.nan),
        np.full(50, np.inf),
        np.full(500, 2.0),
        np.zeros(500),
        np.array([np.nan, 1.0, np.inf, -np.inf, 2.0]),
        np.array([1e308, -1e308] * 20),
        -np.geomspace(1, 100, 60),
    ],
    ids=["empty", "one", "nan", "inf", "constant", "zero", "mixed", "huge", "negative"],
)
def test_degenerate_series_do_not_crash(loss):
    for extra in ({}, {"grad_norm": loss, "lr": loss, "loss_scale": loss, "eval_loss": loss}):
        judgement, _ = outcome_of({"loss": loss, **extra})
        assert judgement.reason


@pytest.mark.parametrize("detector", [d.name for d in all_detectors()])
def test_every_detector_survives_every_signal_being_strange(detector):
    found = next(d for d in all_detectors() if d.name == detector)
    rng = np.random.default_rng(7)
    strange = rng.standard_normal(80)
    strange[[3, 40, 79]] = [np.nan, np.inf, -1.0]
    tags = dict.fromkeys(("loss", "grad_norm", "lr", "loss_scale", "eval_loss", "skipped"), strange)
    for episode in found.run(synth.timeline_of(tags), Config(clip_threshold=1.0), {}):
        assert 0 <= episode.onset_step < 80


@pytest.mark.parametrize("seed", range(60))
def test_noisy_evaluations_that_creep_up_a_little_are_no_overfitting(seed):
    rng = np.random.default_rng(seed)
    n, count = int(rng.choice([50, 200, 1_000])), int(rng.choice([3, 4, 5, 8, 20, 40]))
    noisy = 1.2 - 0.3 * np.arange(n) / n + 0.1 * rng.standard_normal(n)
    loss = synth.power_law(n, rng, 0.05) if seed % 2 else noisy
    steps = np.unique(np.linspace(n // count, n - 1, count).astype(int))
    sd, creep = rng.choice([0.005, 0.02, 0.05]), rng.choice([0, 0.03, 0.06])
    late = np.arange(len(steps)) > 0.6 * len(steps)
    evals = loss[steps] * (1.1 + sd * rng.standard_normal(len(steps)) + np.where(late, creep, 0))
    judgement, _ = outcome_of({"loss": loss, "eval_loss": (steps, evals)})
    assert not judgement.outcome.is_failure, judgement.reason


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("n", [60, 500, 2_000])
def test_a_first_batch_that_happens_to_be_easy_makes_no_spike_of_the_rest(seed, n):
    rng = np.random.default_rng(seed)
    loss = np.linspace(2.0, 1.6, n) * np.exp(0.3 * rng.standard_normal(n))
    loss[0] *= np.exp(-0.6)
    judgement, _ = outcome_of({"loss": loss}, 10)
    assert not judgement.outcome.is_failure, judgement.reason


def test_long_runs_are_judged_in_bounded_memory():
    """Windows that are a share of the run would hold terabytes over every point of it."""
    rng = np.random.default_rng(0)
    n = 300_000
    accuracy = 0.9 - 0.8 * np.exp(-np.arange(n) / (n / 10)) + 0.01 * rng.standard_normal(n)
    tags = {
        "loss": synth.power_law(n, rng),
        "grad_norm": np.exp(0.2 * rng.standard_normal(n)),
        "lr": np.full(n, 1e-3),
        "train_accuracy": accuracy,
        "eval_loss": synth.power_law(n, rng),
        "loss_scale": np.full(n, 1024.0),
    }
    judgement, _ = outcome_of(tags)
    assert judgement.outcome is Outcome.HEALTHY
    flat, _ = outcome_of({**tags, "loss": 2.3 + 0.01 * rng.standard_normal(n)})
    assert flat.reason
