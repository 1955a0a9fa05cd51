import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forensics.advice import _alarms as alarms

RULES = {
    "multiple": lambda v: alarms.first_multiple(v, 10.0),
    "outliers": lambda v: alarms.first_outliers(v, 7.0, 3),
    "drift": alarms.first_drift,
    "share": lambda v: alarms.first_share(v > 1.0, 0.5),
    "worsening": lambda v: alarms.first_worsening(v, 0.03),
    "fall": lambda v: alarms.first_fall(v, 16.0),
}
each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def quiet(points=3000, seed=0):
    return 2.0 + 0.02 * np.random.default_rng(seed).standard_normal(points)


@each_rule
@pytest.mark.parametrize("points", [0, 1, 2, 7, 8, 9, 63])
def test_short_tracks_break_nothing(rule, points):
    assert rule(np.ones(points)) in (None, *range(points))


@each_rule
def test_a_constant_and_a_falling_track_set_nothing_off(rule):
    assert rule(np.full(3000, 0.5)) is None
    assert rule(0.5 + 0.5 * np.exp(-np.arange(3000) / 500)) is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["multiple", "outliers", "drift"])
def test_noise_sets_nothing_off(name, seed):
    assert RULES[name](quiet(seed=seed)) is None


@each_rule
@given(arrays(np.float64, st.integers(0, 400), elements=st.floats(-1e6, 1e6)))
def test_an_alarm_lies_inside_the_track(rule, value):
    index = rule(value)
    assert index is None or 0 <= index < len(value)


@each_rule
def test_an_alarm_does_not_depend_on_what_comes_later(rule):
    value = quiet()
    value[1500:] = 50.0
    other = value.copy()
    index = rule(value)
    if index is not None:
        other[index + 1 :] = 1.0
        assert rule(other) == index


def test_one_point_of_ten_times_the_median_stops():
    value = quiet()
    value[2000] = 25.0
    assert alarms.first_multiple(value, 10.0) == 2000


def test_one_outlier_is_forgiven_and_three_in_a_row_are_not():
    value = quiet()
    value[1000] = 9.0
    assert alarms.first_outliers(value, 7.0, 3) is None
    value[1500:1503] = 9.0
    assert alarms.first_outliers(value, 7.0, 3) == 1502


def test_a_slow_drift_is_found_within_a_few_windows():
    value = quiet()
    value[1500:] += 5e-4 * np.arange(1500)
    index = alarms.first_drift(value)
    assert index is not None
    assert 1500 < index < 1500 + 6 * 64


def test_a_loss_scale_that_is_being_calibrated_is_no_fall():
    scale = np.full(200, 64.0)
    scale[:10] = 65536 / 2.0 ** np.arange(10)
    assert alarms.first_fall(scale, 16.0) is None
    scale[150:] = 1.0
    assert alarms.first_fall(scale, 16.0) == 150


def test_validation_must_be_worse_twice():
    assert alarms.first_worsening(np.array([2.0, 1.0, 1.5, 1.0, 0.9]), 0.03) is None
    assert alarms.first_worsening(np.array([2.0, 1.0, 1.5, 1.4, 0.9]), 0.03) == 3
