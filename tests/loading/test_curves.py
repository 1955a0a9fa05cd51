import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.loading.curves import (
    Curve,
    Relation,
    continues,
    fork_step,
    levels_match,
    relate,
    starts_late,
)
from forensics.loading.rounding import agreement, coarseness
from forensics.run import Axis


def curve(step, value, axis=Axis.STEP):
    return Curve(np.array(step, np.int64), np.array(value, float), axis)


STEPS = np.arange(0, 100, 10)
VALUES = np.linspace(3.0, 2.0, 10) + np.sin(STEPS) / 50


def test_curves_without_a_common_step_are_apart():
    assert relate(curve([1, 2], [1, 2]), curve([3, 4], [1, 2])) is Relation.APART
    assert relate(curve([1, 2], [1, 2]), curve([1, 2], [1, 2], Axis.EPOCH)) is Relation.APART
    assert relate(curve([], []), curve([1], [1])) is Relation.APART


def test_constants_that_agree_prove_nothing():
    flat = curve(STEPS, np.full(10, 0.1))
    assert relate(flat, curve(STEPS, np.full(10, 0.1))) is Relation.DIFFERENT


def test_close_values_of_a_sweep_are_not_copies():
    assert relate(curve(STEPS, VALUES), curve(STEPS, VALUES * 1.001)) is Relation.DIFFERENT


def test_whole_numbers_are_not_taken_for_rounded_ones():
    assert relate(curve(STEPS, VALUES), curve(STEPS, np.round(VALUES))) is Relation.DIFFERENT


@pytest.mark.parametrize("digits", [2, 3, 4, 5])
def test_a_rounded_copy_is_a_copy(digits):
    decimals = np.round(VALUES, digits)
    assert relate(curve(STEPS, VALUES), curve(STEPS, decimals)) is Relation.COPY
    significant = [float(f"{v:.{digits + 1}g}") for v in VALUES]
    assert relate(curve(STEPS, significant), curve(STEPS, VALUES)) is Relation.COPY
    assert coarseness(np.array(significant)) > coarseness(VALUES) == 0.0


def test_a_fork_has_a_common_history():
    other = np.where(STEPS < 50, VALUES, VALUES + 0.5)
    assert relate(curve(STEPS, VALUES), curve(STEPS, other)) is Relation.FORK
    assert fork_step(curve(STEPS, VALUES), curve(STEPS, other)) == 50


def test_the_first_logged_step_is_no_late_start():
    assert not starts_late(curve([50, 100, 150], [1, 1, 1]))
    assert not starts_late(curve([49, 99], [1, 1]))
    assert not starts_late(curve([1], [1]))
    assert not starts_late(curve([1, 2], [1, 1], Axis.EPOCH))
    assert starts_late(curve([500, 510], [1, 1]))
    assert starts_late(curve([5, 6], [1, 1], Axis.EPOCH))


def test_a_run_continues_only_what_came_before_it():
    early, late = curve(range(0, 500, 10), np.ones(50)), curve([400, 410, 420], [1, 1, 1])
    assert continues(early, late)
    assert not continues(late, early)
    assert not continues(late, late)
    far = curve([5000, 5010], [1, 1])
    assert continues(early, far)
    assert not continues(early, far, max_gap=0.1)
    assert continues(early, curve([550, 560], [1, 1]), max_gap=0.1)


def test_levels_match_where_the_earlier_run_was_broken():
    early = curve(STEPS, np.full(10, np.nan))
    assert levels_match(early, curve([50, 60], [9, 9]))
    assert not levels_match(curve(STEPS, VALUES), curve([50, 60], [90, 90]))
    assert levels_match(curve(STEPS, VALUES), curve([50, 60], [2.6, 2.5]))


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=30),
    st.integers(1, 6),
)
def test_agreement_holds_for_itself_and_never_fails(values, decimals):
    array = np.array(values)
    assert agreement(array, array).all()
    assert agreement(array, array[::-1]).shape == array.shape
    with np.errstate(all="ignore"):
        assert np.isfinite(coarseness(np.round(array, decimals)))


def test_few_levels_or_a_miss_do_not_make_a_coarse_copy():
    flat = curve(STEPS, 1.386 + 0.0001 * np.arange(10))
    assert relate(flat, curve(STEPS, np.round(flat.value, 3))) is Relation.DIFFERENT
    steps = np.arange(30)
    near = 1.385 + 0.004 * np.sin(steps)
    off = np.round(near + np.where(steps % 4, 0.0, 0.0011), 3)
    assert relate(curve(steps, near), curve(steps, off)) is Relation.DIFFERENT


def test_a_copy_rounded_coarsely_at_every_point_is_a_copy():
    steps = np.arange(30)
    near = 1.385 + 0.004 * np.sin(steps)
    assert relate(curve(steps, near), curve(steps, np.round(near, 3))) is Relation.COPY


def test_of_one_run_a_constant_and_its_rounding_agree():
    exact, printed = np.full(3, 1.38701034), np.full(3, 1.387)
    assert not agreement(exact, printed).any()
    assert agreement(exact, printed, one_run=True).all()
    assert not agreement(exact, np.full(3, 1.388), one_run=True).any()
