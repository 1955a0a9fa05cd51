"""Where a failure of the zoo began, by the whole curve and its control."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "sample_runs"))

pytest.importorskip("torch", reason="the runs are trained with torch")

from zoo_runs.onsets import Began, came_to_rest, can_be_seen, left_the_band, reached, turned

STEP = np.arange(1, 401)


def noisy(level: np.ndarray, sigma: float = 0.02, seed: int = 0) -> np.ndarray:
    return level + np.random.default_rng(seed).normal(0, sigma, len(level))


def falling(rate: float = 0.02) -> np.ndarray:
    return 0.5 + 2 * np.exp(-rate * STEP)


def test_what_nobody_could_see_is_not_asked_for():
    assert not can_be_seen(STEP, noisy(np.full(400, 2.0)), 200)
    small = np.where(STEP >= 200, 2.01, 2.0)
    assert not can_be_seen(STEP, noisy(small), 200)


def test_a_rise_well_out_of_the_noise_can_be_seen():
    assert can_be_seen(STEP, noisy(np.where(STEP >= 200, 2.2, 2.0)), 200)
    once = noisy(np.full(400, 2.0))
    once[199] += 0.5
    assert can_be_seen(STEP, once, 200)


def test_a_climb_began_between_its_turn_and_the_band():
    loss = noisy(np.where(STEP < 200, 1.0, 1.0 + 0.004 * (STEP - 200)))
    began = left_the_band(STEP, loss, 399)
    assert 185 <= began.first <= began.last
    assert 205 <= began.last <= 240


def test_a_long_floor_is_not_where_a_jump_began():
    loss = noisy(np.where(STEP < 300, 1.0, 5.0))
    loss[60:80] -= 0.002
    began = left_the_band(STEP, loss, 399)
    assert began.first >= 280
    assert began.last == 300


def test_a_loss_that_never_moved_rests_from_its_first_step():
    flat = noisy(np.full(400, 2.5))
    assert reached(flat) <= 1
    assert came_to_rest(STEP, flat, falling(), 2.0).first <= 2


def test_one_that_still_falls_at_the_end_was_too_slow_from_the_start():
    slow = noisy(2.5 - 0.001 * STEP)
    assert came_to_rest(STEP, slow, falling(), 2.0).first == 1


def test_a_floor_above_the_controls_is_where_it_is_reached():
    stalled = noisy(np.maximum(falling(), 1.5))
    began = came_to_rest(STEP, stalled, falling(), 2.0)
    assert 20 <= began.first <= 40
    assert began.last <= 60


def test_evaluations_as_good_as_the_best_are_the_turn():
    steps, values = [10, 20, 30, 40, 50], np.array([2.0, 1.01, 1.0, 1.4, 2.0])
    assert turned(steps, values) == Began(20, 40)
