"""Failures planted in curves of known truth: outcome, symptom, onset."""

import numpy as np
import pytest

from forensics.findings import Outcome, Symptom
from forensics.run import Config, Run, TextEvidence, TextKind
from forensics.signals import Signal
from tests import synth
from tests.detectors.test_silence import outcome_of

SIZES = ((60, 10), (400, 50), (1_000, 1), (5_000, 5))
WORSE = {Outcome.DIVERGED, Outcome.SPIKED_UNRECOVERED}


@pytest.mark.parametrize(("n", "interval"), SIZES)
@pytest.mark.parametrize("seed", range(3))
class TestPlanted:
    def base(self, n, seed):
        rng = np.random.default_rng(seed)
        return synth.power_law(n, rng), int(n * rng.uniform(0.4, 0.8))

    def test_a_spike_that_recovers(self, n, interval, seed):
        loss, at = self.base(n, seed)
        judgement, _ = outcome_of({"loss": synth.plant_spike(loss, at, 3.0, 2)}, interval)
        assert judgement.outcome is Outcome.SPIKED_RECOVERED
        assert judgement.symptom is Symptom.SINGLE_SPIKE_RECOVERS
        assert judgement.onset_step == at * interval

    def test_a_divergence(self, n, interval, seed):
        loss, at = self.base(n, seed)
        judgement, _ = outcome_of({"loss": synth.plant_divergence(loss, at, 40 / n)}, interval)
        assert judgement.outcome is Outcome.DIVERGED
        # 0.05 x (e^x - 1) needs x = 2 to leave a band of 0.3: that many points late is right.
        assert at - 2 <= judgement.onset_step / interval <= at + n / 12 + 3

    def test_a_drift_without_a_spike(self, n, interval, seed):
        loss, at = self.base(n, seed)
        judgement, _ = outcome_of({"loss": synth.plant_drift(loss, at, 1.0 / (n - at))}, interval)
        assert judgement.outcome in WORSE

    def test_a_level_that_stays(self, n, interval, seed):
        loss, at = self.base(n, seed)
        judgement, _ = outcome_of({"loss": synth.plant_spike(loss, at, 3.0, 1e9)}, interval)
        assert judgement.outcome in WORSE
        assert abs(judgement.onset_step / interval - at) <= 3

    def test_nan_to_the_end(self, n, interval, seed):
        loss, at = self.base(n, seed)
        loss[at:] = np.nan
        judgement, _ = outcome_of({"loss": loss}, interval)
        assert judgement.outcome is Outcome.NON_FINITE
        assert judgement.symptom is Symptom.LATE_NON_FINITE
        assert judgement.onset_step == at * interval
        assert judgement.after_step == (at - 1) * interval


def test_one_nan_with_finite_neighbours_recovers():
    loss = synth.power_law(500, np.random.default_rng(0))
    loss[250] = np.nan
    judgement, _ = outcome_of({"loss": loss})
    assert judgement.outcome is Outcome.SPIKED_RECOVERED


def test_nan_from_the_first_step():
    judgement, _ = outcome_of({"loss": np.full(100, np.nan)})
    assert judgement.symptom is Symptom.FIRST_STEP_NON_FINITE


def test_the_gradient_norm_moves_first():
    rng = np.random.default_rng(0)
    loss = synth.plant_divergence(synth.power_law(1_000, rng), 700, 0.5)
    norm = np.exp(0.2 * rng.standard_normal(1_000))
    norm[698:] *= np.geomspace(10, 1e6, 302)
    judgement, _ = outcome_of({"loss": loss, "grad_norm": norm})
    assert judgement.first_mover is Signal.GRAD_NORM
    assert judgement.onset_step == 698


def test_a_blow_up_that_ends_in_nan_begins_at_the_blow_up():
    loss = synth.power_law(400, np.random.default_rng(0))
    loss[300:305] = [8, 40, 400, 1e6, np.inf]
    judgement, _ = outcome_of({"loss": loss[:305]})
    assert judgement.outcome is Outcome.NON_FINITE
    assert judgement.onset_step == 300


@pytest.mark.parametrize("shown", [0.0, 1.71])
def test_the_nan_filter_of_transformers(shown):
    loss = np.array([2.3, 2.1, 1.9, 1.8, 1.75, shown, 0.0, 0.0])
    norm = np.array([3.0, 2.0, 2.0, 1.9, 8.6, np.nan, np.nan, np.nan])
    judgement, _ = outcome_of(
        {"loss": loss, "grad_norm": norm},
        10,
    )
    assert judgement.outcome is Outcome.NON_FINITE
    assert judgement.onset_step == 50


def test_a_masked_gradient_norm_of_deepspeed():
    rng = np.random.default_rng(0)
    loss = synth.power_law(60, rng)
    loss[40:] = loss[40]
    norm = np.where(np.arange(60) >= 40, -1.0, 1.0 + 0.1 * rng.standard_normal(60))
    judgement, _ = outcome_of({"loss": loss, "grad_norm": norm})
    assert judgement.outcome is Outcome.NON_FINITE
    assert judgement.onset_step == 40


def test_a_norm_that_is_always_nan_while_the_loss_falls_is_not_believed():
    rng = np.random.default_rng(0)
    judgement, _ = outcome_of(
        {"loss": synth.power_law(200, rng), "grad_norm": np.full(200, np.nan)}
    )
    assert judgement.outcome is Outcome.HEALTHY


def test_consecutive_spikes_are_told_from_one():
    rng = np.random.default_rng(0)
    loss = synth.power_law(2_000, rng)
    for at in (1_000, 1_100, 1_200, 1_300):
        loss = synth.plant_spike(loss, at, 4.0, 3)
    judgement, _ = outcome_of({"loss": loss})
    assert judgement.outcome is Outcome.SPIKED_RECOVERED
    assert judgement.symptom is Symptom.CONSECUTIVE_SPIKES


def test_a_series_of_spikes_begins_with_its_first_though_a_later_one_is_the_tallest():
    loss = synth.power_law(2_000, np.random.default_rng(0))
    for at, height in ((1_000, 2.0), (1_100, 3.0), (1_200, 9.0), (1_300, 4.0)):
        loss = synth.plant_spike(loss, at, height, 3)
    judgement, _ = outcome_of({"loss": loss})
    assert judgement.onset_step == 1_000
    assert judgement.decisive is not None
    assert judgement.decisive.onset_step == 1_200


def test_a_steep_fall_does_not_hide_a_spike():
    loss = np.geomspace(8.0, 0.5, 120) * np.exp(
        0.01 * np.random.default_rng(0).standard_normal(120)
    )
    loss[70:73] += [3.0, 2.0, 1.0]
    judgement, _ = outcome_of({"loss": loss})
    assert judgement.outcome is Outcome.SPIKED_RECOVERED
    assert judgement.onset_step == 70


def test_a_loss_at_chance_is_stalled_and_named():
    rng = np.random.default_rng(0)
    loss = np.log(10) + 0.01 * rng.standard_normal(400)
    judgement, episodes = outcome_of({"loss": loss}, config=Config(num_classes=10))
    assert judgement.outcome is Outcome.STALLED
    assert judgement.symptom is Symptom.NO_PROGRESS
    assert episodes[0].details["level_kind"] == "ln_classes"


def test_a_log_that_ends_in_the_warm_up_is_not_stalled():
    rng = np.random.default_rng(0)
    loss = 6.9 + 0.01 * rng.standard_normal(100)
    judgement, _ = outcome_of({"loss": loss, "lr": np.linspace(0, 1e-3, 100)})
    assert not judgement.outcome.is_failure


def test_overfitting():
    train = np.geomspace(2.0, 0.05, 1_000)
    evals = (np.arange(0, 1_000, 100), np.array([2, 1.2, 1, 1.1, 1.2, 1.35, 1.5, 1.6, 1.7, 1.8]))
    judgement, _ = outcome_of({"loss": train, "eval_loss": evals})
    assert judgement.outcome is Outcome.OVERFIT
    assert judgement.onset_step == judgement.after_step == 200


def test_validation_that_explodes_alone():
    rng = np.random.default_rng(0)
    train = synth.power_law(1_000, rng)
    evals = (np.arange(0, 1_000, 100), np.array([9, 4, 3, 2.5, 2.4, 80, 2.4, 900, 3e4, 1e5]))
    judgement, _ = outcome_of({"loss": train, "eval_loss": evals})
    assert judgement.outcome is Outcome.VALIDATION_FAILED


def test_a_process_killed_on_a_healthy_curve_crashed():
    loss = synth.power_law(300, np.random.default_rng(0))
    run = synth.run_of({"loss": loss})
    line = TextEvidence(TextKind.OUT_OF_MEMORY, "CUDA out of memory", "train.log", 900, 299)
    run = Run(run.path, series=run.series, text=(line,))
    from forensics.detectors import detect_all
    from forensics.outcome import judge
    from forensics.timeline import build

    timeline = build(run)
    judgement = judge(timeline, detect_all(timeline, run.config)[0], run.text)
    assert judgement.outcome is Outcome.CRASHED
    assert judgement.onset_step == 299


def test_an_error_of_the_hardware_is_no_end_of_a_run_that_did_all_its_steps():
    from forensics.outcome import judge

    line = TextEvidence(TextKind.HARDWARE_ERROR, "Xid 48", "train.log", 900, 299)
    timeline = synth.timeline_of({"loss": synth.power_law(300, np.random.default_rng(0))})
    assert judge(timeline, (), (line,), 300).outcome is Outcome.HEALTHY
    assert judge(timeline, (), (line,), 600).outcome is Outcome.CRASHED
    assert judge(timeline, (), (line,)).outcome is Outcome.CRASHED


def test_a_rise_that_validation_shares_though_it_fell_all_along_is_not_the_data():
    t = np.arange(300)
    loss = 1.0 + 4 * np.exp(-t / 60) + 0.05 * np.random.default_rng(0).standard_normal(300)
    loss[181:] += 2.0 * np.exp(-(t[181:] - 181) / 170) + 15 * np.exp(-(t[181:] - 181) / 6)
    evals = (np.arange(50, 301, 50) - 1, np.array([2.33, 1.73, 1.37, 3.01, 2.39, 2.03]))
    judgement, _ = outcome_of({"loss": loss, "eval_loss": evals})
    assert judgement.outcome in WORSE


@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 0.0), (1e4, 0.0), (1.0, 0.5)])
def test_onset_does_not_depend_on_the_unit(scale, shift):
    loss = synth.plant_spike(synth.power_law(1_000, np.random.default_rng(0)), 600, 4.0, 1e9)
    plain, _ = outcome_of({"loss": loss})
    moved, _ = outcome_of({"loss": scale * loss + shift})
    assert moved.onset_step == plain.onset_step
    assert moved.outcome is plain.outcome


def test_labels_that_are_only_memorised_leave_the_loss_at_chance():
    rng = np.random.default_rng(0)
    loss = np.log(10) + 0.02 * rng.standard_normal(600) - np.linspace(0, 0.06, 600)
    judgement, _ = outcome_of({"loss": loss}, config=Config(num_classes=10))
    assert judgement.outcome is Outcome.STALLED


def test_validation_that_never_beats_an_untrained_model_is_no_overfitting():
    rng = np.random.default_rng(0)
    train = np.geomspace(1.4, 0.3, 800) * np.exp(0.1 * rng.standard_normal(800))
    evals = (np.arange(49, 800, 50), np.linspace(1.65, 5.3, 16))
    judgement, _ = outcome_of({"loss": train, "eval_loss": evals})
    assert judgement.outcome is Outcome.VALIDATION_FAILED
    assert judgement.onset_step == 49


def test_a_jump_at_a_resume_that_comes_back_is_told():
    rng = np.random.default_rng(0)
    loss = 0.3 + 0.01 * rng.standard_normal(300)
    loss[150:165] += np.linspace(0.5, 0.02, 15)
    step = np.concatenate([np.arange(170), np.arange(150, 300)])
    value = np.concatenate([0.3 + 0.01 * rng.standard_normal(170), loss[150:]])
    judgement, episodes = outcome_of({"loss": (step, value)})
    assert judgement.outcome is Outcome.SPIKED_RECOVERED
    assert judgement.onset_step == 150
    assert "resume_jump" in {e.kind for e in episodes}


def test_a_doubled_validation_loss_is_overfitting_whatever_the_accuracy():
    train = np.geomspace(1.4, 0.001, 600)
    evals = (np.arange(0, 600, 50), np.linspace(1.2, 3.2, 12))
    evals[1][:3] = [1.36, 1.25, 1.2]
    accuracy = (evals[0], np.append([0.3, 0.4], np.full(10, 0.46)))
    judgement, _ = outcome_of({"loss": train, "eval_loss": evals, "eval_accuracy": accuracy})
    assert judgement.outcome is Outcome.OVERFIT


def test_an_explosion_that_starts_at_once_has_no_noise_to_hide_in():
    rng = np.random.default_rng(0)
    loss = np.exp(np.minimum(0.4 * np.arange(150), 55.0)) * np.exp(0.8 * rng.standard_normal(150))
    judgement, _ = outcome_of({"loss": loss})
    assert judgement.outcome is Outcome.DIVERGED


def test_the_onset_of_a_blow_up_is_not_an_earlier_small_step():
    rng = np.random.default_rng(0)
    loss = np.concatenate([np.geomspace(0.76, 0.138, 15), np.full(55, 0.138)])
    loss[38:] += 0.02
    loss *= 1 + 0.03 * rng.standard_normal(70)
    loss = np.concatenate([loss, [0.3, 18.3, 4.5e6]])
    judgement, _ = outcome_of({"loss": loss})
    assert judgement.outcome is Outcome.DIVERGED
    assert 70 <= judgement.onset_step <= 71


@pytest.mark.parametrize("unit", [10.0, 300.0])
def test_a_validation_summed_over_batches_is_no_failure(unit):
    train = np.geomspace(2.3, 0.4, 300)
    evals = (np.arange(29, 300, 30), unit * np.geomspace(2.1, 0.6, 10))
    judgement, _ = outcome_of({"loss": train, "eval_loss": evals})
    assert not judgement.outcome.is_failure


def test_a_validation_on_inputs_of_another_scale_fails_though_it_falls():
    train = np.geomspace(2.3, 0.4, 300)
    evals = (np.arange(29, 300, 30), np.linspace(160.0, 75.0, 10))
    judgement, _ = outcome_of({"loss": train, "eval_loss": evals})
    assert judgement.outcome is Outcome.VALIDATION_FAILED
    assert judgement.onset_step == 29
    better = (evals[0], np.linspace(0.2, 0.8, 10))
    judgement, _ = outcome_of({"loss": train, "eval_loss": evals, "eval_acc": better})
    assert not judgement.outcome.is_failure


def test_a_crash_dated_by_whole_epochs_is_at_the_end():
    from forensics.outcome import judge

    timeline = synth.timeline_of({"loss": synth.power_law(300, np.random.default_rng(0))})
    by_epoch = TextEvidence(TextKind.TRACEBACK, "MemoryError", "train.log", 900, 294)
    assert judge(timeline, (), (by_epoch,)).outcome is Outcome.CRASHED
    got_over = TextEvidence(TextKind.TRACEBACK, "MemoryError", "train.log", 400, 200)
    assert judge(timeline, (), (got_over,)).outcome is Outcome.HEALTHY


def test_a_level_far_above_the_old_one_is_told_in_a_few_dozen_points():
    rng = np.random.default_rng(1)
    before = np.array([1.55, 0.91, 0.88, 0.89, 1.3, 0.84, 0.94, 0.99, 0.94])
    after = 1.39 + 0.015 * rng.standard_normal(26)
    judgement, _ = outcome_of({"loss": np.concatenate([before, [2.3], after])}, 20)
    assert judgement.outcome in (Outcome.DIVERGED, Outcome.SPIKED_UNRECOVERED)
    assert 100 <= judgement.onset_step <= 200


def test_a_jump_that_only_half_comes_back_is_no_noise():
    rng = np.random.default_rng(2)
    fall = np.concatenate([[4.6, 3.8, 3.0], np.full(13, 2.83), np.linspace(2.78, 2.33, 7)])
    back = 2.85 + 0.9 * np.exp(-np.arange(18) / 2.5)
    loss = np.concatenate([fall, back])
    judgement, _ = outcome_of({"loss": loss + 0.01 * rng.standard_normal(len(loss))}, 10)
    assert judgement.outcome is Outcome.SPIKED_UNRECOVERED
    assert judgement.onset_step == pytest.approx(230, abs=10)


def test_a_counter_that_went_up_once_skips_nothing_more():
    loss = synth.power_law(40, np.random.default_rng(0))
    for skipped in (np.ones(40), np.full(40, 10.0)):
        judgement, _ = outcome_of({"loss": loss, "skipped": skipped}, 1)
        assert judgement.outcome is Outcome.HEALTHY
    judgement, _ = outcome_of({"loss": loss, "skipped": np.ones(40)}, 10)
    assert judgement.outcome is Outcome.HEALTHY


@pytest.mark.parametrize("skipped", [np.full(15, 10.0), 10.0 * np.arange(1, 16)])
def test_a_run_whose_every_step_was_skipped_is_stalled(skipped):
    judgement, _ = outcome_of({"skipped": skipped}, 10)
    assert judgement.outcome is Outcome.STALLED
    assert judgement.onset_step == 0


def test_a_stop_for_the_loss_scale_began_with_its_collapse():
    from forensics.detectors import detect_all
    from forensics.outcome import judge

    scale = np.full(300, 65536.0)
    scale[180:] = np.maximum(1.0, 65536.0 / 2.0 ** np.arange(1, 121))
    loss = synth.power_law(300, np.random.default_rng(0))
    timeline = synth.timeline_of({"loss": loss, "loss_scale": scale})
    stopped = TextEvidence(TextKind.LOSS_SCALE_MINIMUM, "scale at minimum", "train.log", 900, 299)
    found = judge(timeline, detect_all(timeline, Config())[0], (stopped,))
    assert found.outcome is Outcome.NON_FINITE
    assert found.onset_step == 180


def test_a_level_that_the_loss_rose_to_is_no_plateau_from_the_start():
    from forensics.detectors import detect_all
    from forensics.findings import EpisodeKind

    rng = np.random.default_rng(3)
    fall = np.array([1.06, 0.83, 0.64, 0.7, 0.76, 0.87, 1.01, 0.82, 1.03, 2.88])
    loss = np.concatenate([fall, 1.39 + 0.015 * rng.standard_normal(25)])
    timeline = synth.timeline_of({"loss": loss}, 20)
    kinds = {e.kind for e in detect_all(timeline, Config(num_classes=4))[0]}
    assert EpisodeKind.DIVERGENCE in kinds
    assert EpisodeKind.PLATEAU not in kinds
