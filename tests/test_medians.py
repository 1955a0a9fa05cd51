"""Medians: numpy's values, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from forensics.medians import median, row_medians

ANY = st.floats(width=64)


def test_of_nothing_it_is_not_known():
    assert np.isnan(median(np.empty(0)))


@pytest.mark.parametrize("width", [1, 2, 7, 8])
def test_one_nan_makes_its_row_unknown_and_no_other(width):
    rows = np.arange(3.0 * width).reshape(3, width)
    rows[1, width // 2] = np.nan
    assert np.isnan(row_medians(rows)).tolist() == [False, True, False]


def test_the_values_given_stay_as_they_are():
    value = np.array([3.0, 1.0, 2.0])
    assert (median(value), value.tolist()) == (2.0, [3.0, 1.0, 2.0])


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=ANY))
def test_rows_as_numpy_has_them(rows):
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(row_medians(rows), np.median(rows, axis=1))


@given(arrays(np.float64, st.integers(1, 40), elements=ANY))
def test_one_row_as_numpy_has_it(value):
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(median(value), np.median(value))
