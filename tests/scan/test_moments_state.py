"""Counters, rates, settings and scales in checkpoints against what the run says of itself."""

from dataclasses import replace

from forensics.causes import _looks_counters as counters
from forensics.signals import Signal
from tests.causes.cases import make_track
from tests.scan.trained import STEPS, case_of, torch, train


def _with_lr(case, rates):
    track = make_track(Signal.LR, list(range(1, STEPS[-1] + 1)), rates)
    timeline = replace(case.timeline, tracks={**case.timeline.tracks, Signal.LR: track})
    return replace(case, timeline=timeline)


def test_skipped_steps_are_no_restart(tmp_path):
    def skipped(step, save):
        for held in save["optimizer"]["state"].values():
            held["step"] -= 9

    assert not counters.optimizer_counter_restarted(case_of(train(tmp_path, skipped))).holds


def test_a_counter_that_began_again_at_a_checkpoint(tmp_path):
    def restarted(step, save):
        if step > 40:
            for held in save["optimizer"]["state"].values():
                held["step"] -= 40

    found = counters.optimizer_counter_restarted(case_of(train(tmp_path, restarted)))
    assert found.holds
    assert "began anew at step 40" in found.text


def test_a_scheduler_that_began_again(tmp_path):
    def restarted(step, save):
        done = step if step == 40 else step - 40
        save["lr_scheduler"] = {"last_epoch": done, "_step_count": done + 1, "_last_lr": [1e-3]}

    assert counters.scheduler_restarted(case_of(train(tmp_path, restarted))).holds


def test_a_scheduler_that_counts_epochs_did_not(tmp_path):
    def epochs(step, save):
        save["epoch"] = step // 40
        save["lr_scheduler"] = {"last_epoch": step // 40, "base_lrs": [1e-3], "_last_lr": [1e-3]}

    assert not counters.scheduler_restarted(case_of(train(tmp_path, epochs))).holds


def test_rates_that_agree_and_rates_that_do_not(tmp_path):
    case = case_of(train(tmp_path))
    assert counters.rate_differs(_with_lr(case, [1e-3] * STEPS[-1])).holds is False
    assert counters.rate_differs(_with_lr(case, [1e-4] * STEPS[-1])).holds


def test_settings_that_a_restored_state_overrides(tmp_path):
    root = train(tmp_path, betas=(0.9, 0.98))
    assert counters.settings_differ(case_of(root, betas=(0.9, 0.98))).holds is False
    found = counters.settings_differ(case_of(root, betas=(0.9, 0.999)))
    assert found.holds
    assert "0.98" in found.text


def test_a_loss_scale_that_has_gone(tmp_path):
    def add(step, save):
        save["scaler"] = {"scale": 2.0 ** -(step // 10), "_growth_tracker": 0, "growth_factor": 2.0}

    assert counters.scale_collapsed(case_of(train(tmp_path, add))).holds


def test_integers_in_tensors_are_read_as_counters(tmp_path):
    def as_tensor(step, save):
        for held in save["optimizer"]["state"].values():
            held["step"] = torch.tensor(float(step))

    case = case_of(train(tmp_path, as_tensor))
    assert case.survey.checkpoints[-1].state.optimizer_steps == (120.0, 120.0)
