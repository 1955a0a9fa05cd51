"""What Adam's state proves: first what must not be found in sound runs, then each fault."""

import math

import numpy as np
import pytest

from forensics.causes import _looks_counters as counters
from forensics.causes import _looks_damage as damage
from forensics.causes import _looks_growth as growth
from forensics.causes import _looks_last_update as last_update
from forensics.causes import _looks_moments as moments
from forensics.causes import _looks_weights as weights
from forensics.scan._moments_adam import moment_bound, noise_floor
from forensics.scan._moments_values import BLOCK, stretches
from tests.causes.cases import make_case
from tests.scan.trained import case_of, model, surveyed, torch, train

ALARMS = [
    moments.bound_broken,
    moments.second_moment_reset,
    moments.second_moment_swapped,
    moments.units_silent,
    moments.norm_beyond_clip,
    moments.norm_divided_by_scale,
    moments.epsilon_dominates,
    moments.updates_outrun_memory,
    counters.optimizer_counter_restarted,
    counters.scheduler_restarted,
    counters.settings_differ,
    counters.scale_collapsed,
    weights.never_updated,
    weights.rounded_away,
    weights.moved_far,
    weights.first_layers_still,
    weights.weights_shrank,
    growth.query_key_grew,
    growth.head_grew,
    growth.gains_grew,
    growth.few_rows_grew,
    last_update.moved_without_optimizer,
    damage.value_stands_out,
    damage.one_tensor_broken,
    damage.broken_behind_optimizer,
    damage.copies_differ,
    damage.few_elements_differ,
    damage.statistics_bad,
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return train(tmp_path_factory.mktemp("sound"), clip=1.0)


@pytest.mark.parametrize("look", ALARMS, ids=lambda look: look.__name__)
def test_a_sound_run_sets_nothing_off(sound, look):
    case = case_of(sound, clip_threshold=1.0, betas=(0.9, 0.999), weight_decay=0.01)
    assert look(case).holds is not True


@pytest.mark.parametrize("look", ALARMS, ids=lambda look: look.__name__)
def test_nothing_is_said_where_nothing_was_looked_at(look):
    found = look(make_case([1.0] * 20))
    assert found.holds is None
    assert found.source == "checkpoints"


@pytest.mark.parametrize("look", ALARMS, ids=lambda look: look.__name__)
def test_zeros_frozen_layers_and_masks_are_no_fault(tmp_path, look):
    net = model()
    with torch.no_grad():
        net[2].weight.zero_()  # a fresh adapter
        net[2].bias.zero_()
    for parameter in (*net[0].parameters(), *net[2].parameters()):
        parameter.requires_grad_(False)

    def add(step, save):
        save["model"]["mask"] = torch.full((64, 64), -math.inf).triu(1)
        save["model"]["ema.0.weight"] = torch.ones(64, 16)
        save["model"]["tied.weight"] = save["model"]["3.weight"]

    case = case_of(train(tmp_path, add, net=net))
    assert look(case).holds is not True


def test_the_bound_is_that_of_the_worst_sequence_of_gradients():
    b1, b2 = 0.9, 0.95
    gradient = (b1 / b2) ** np.arange(400)[::-1]
    m = v = 0.0
    for g in gradient:
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    assert m / math.sqrt(v) == pytest.approx(moment_bound(b1, b2), rel=1e-6)
    assert moment_bound(0.9, 0.999) == pytest.approx(7.27, abs=0.01)
    assert moment_bound(0.99, 0.9) == math.inf


def test_noise_has_the_updates_of_the_noise_floor(tmp_path):
    facts = surveyed(train(tmp_path)).checkpoints[-1]
    sizes = [m.update_rms for m in facts.moments if m.size > 100]
    assert 0.5 * noise_floor(0.9) < np.median(sizes) < 3 * noise_floor(0.9)


def test_facts_equal_those_computed_in_one_go(sound):
    saved = torch.load(sound / "step_000120.pt", weights_only=True)
    state = saved["optimizer"]["state"]
    facts = surveyed(sound).checkpoints[-1]
    for place, found in enumerate(facts.moments):
        m, v = state[place]["exp_avg"].double(), state[place]["exp_avg_sq"].double()
        mhat, vhat = m / (1 - 0.9**120), v / (1 - 0.999**120)
        alive = v > 0
        update = (mhat.abs() / (vhat.sqrt() + 1e-8))[alive]
        assert found.update_rms == pytest.approx(float(update.square().mean().sqrt()), rel=1e-9)
        assert found.update_max == pytest.approx(float((m.abs() / v.sqrt())[alive].max()))
        assert found.sum_square == pytest.approx(float(vhat.sum()))
        assert found.unseen == pytest.approx(float((v == 0).double().mean()))


def test_large_tensors_are_read_in_evenly_spaced_stretches():
    parts = stretches(BLOCK * 100 + 7, BLOCK * 10)
    assert parts[0][0] == 0
    assert parts[-1][1] == BLOCK * 100 + 7
    assert len(parts) == 10
    assert stretches(0, 10) == []
    assert stretches(5, 1) == [(0, 5)]


def test_moments_of_other_parameters_break_the_bound(tmp_path):
    def swap(step, save):
        state = save["optimizer"]["state"]
        state[0]["exp_avg_sq"] = state[0]["exp_avg_sq"].flip(0) * 1e-3

    found = moments.bound_broken(case_of(train(tmp_path, swap)))
    assert found.holds
    assert "0.weight" in found.text


def test_a_negative_second_moment_is_impossible(tmp_path):
    def damage_one(step, save):
        save["optimizer"]["state"][2]["exp_avg_sq"][3, 3] = -1e-6

    assert moments.bound_broken(case_of(train(tmp_path, damage_one))).holds


def test_a_second_moment_that_was_reset(tmp_path):
    def reset(step, save):
        if step == 80:
            for held in save["optimizer"]["state"].values():
                held["exp_avg_sq"] *= 1e-3
                held["exp_avg"] *= 1e-3

    case = case_of(train(tmp_path, reset))
    assert moments.second_moment_reset(case).holds
    assert not moments.second_moment_swapped(case).holds


def test_second_moments_that_belong_to_another_tensor(tmp_path):
    def damage_one(step, save):
        if step == 80:
            save["optimizer"]["state"][2]["exp_avg_sq"] *= 1e-3

    case = case_of(train(tmp_path, damage_one))
    assert moments.second_moment_swapped(case).holds
    assert not moments.second_moment_reset(case).holds


def test_units_that_no_input_reaches(tmp_path):
    def kill(step, net, optimizer):
        if step == 75:
            with torch.no_grad():
                net[0].bias[:48] = -100.0

    found = moments.units_silent(case_of(train(tmp_path, each_step=kill)))
    assert found.holds
    assert "48 of 64 units of 0.weight" in found.text


def test_clipping_that_acts_at_every_step(tmp_path):
    case = case_of(train(tmp_path, clip=1e-3), clip_threshold=1e-3)
    assert moments.norm_at_clip(case).holds
    assert not moments.norm_beyond_clip(case).holds


def test_clipping_that_is_claimed_but_not_done(tmp_path):
    case = case_of(train(tmp_path), clip_threshold=1e-3)
    assert moments.norm_beyond_clip(case).holds


def test_clipping_before_unscaling(tmp_path):
    def add(step, save):
        save["scaler"] = {"scale": 65536.0, "growth_factor": 2.0, "_growth_tracker": 7}

    case = case_of(train(tmp_path, add, clip=1.0, scale=65536.0), clip_threshold=1.0)
    found = moments.norm_divided_by_scale(case)
    assert found.holds
    assert "65,536" in found.text
    assert not moments.norm_beyond_clip(case).holds


def test_epsilon_that_dominates(tmp_path):
    assert moments.epsilon_dominates(case_of(train(tmp_path, eps=1.0))).holds
