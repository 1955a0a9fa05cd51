import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from forensics.report.figures._envelope import envelope, spans

values = hnp.arrays(
    np.float64, st.integers(1, 400), elements=st.floats(allow_nan=True, allow_infinity=True)
)


@settings(deadline=None)
@given(values, st.integers(5, 40))
def test_no_spike_is_lost(value: np.ndarray, columns: int) -> None:
    step = np.arange(len(value))
    line = envelope(step, value, 0, len(value), columns)
    finite = value[np.isfinite(value)]
    assert len(line.x) <= max(2 * columns, columns + 1)
    if len(finite):
        assert np.nanmax(line.high) == finite.max()
        assert np.nanmin(line.low) == finite.min()
    else:
        assert np.isnan(line.high).all()


@settings(deadline=None)
@given(values)
def test_nothing_that_is_not_finite_is_drawn(value: np.ndarray) -> None:
    line = envelope(np.arange(len(value)), value, 0, len(value), 7)
    for part in (line.low, line.middle, line.high):
        assert not np.isinf(part).any()


def test_few_points_are_drawn_as_they_are() -> None:
    value = np.array([1.0, np.nan, 3.0, np.inf])
    line = envelope(np.array([10, 20, 30, 40]), value, 10, 40, 100)
    assert not line.dense
    np.testing.assert_array_equal(line.middle, [1.0, np.nan, 3.0, np.nan])
    np.testing.assert_array_equal(line.x, [10, 20, 30, 40])


def test_a_window_keeps_one_neighbour_on_either_side() -> None:
    line = envelope(np.arange(0, 1000, 10), np.arange(100.0), 305, 395, 50)
    assert (line.x[0], line.x[-1]) == (300, 400)


def test_uneven_steps_share_columns_by_step_not_by_number() -> None:
    step = np.concatenate((np.arange(10_000), [10**6]))
    line = envelope(step, np.append(np.zeros(10_000), 5.0), 0, 10**6, 100)
    assert line.x[-1] == 10**6
    assert line.high[-1] == line.low[-1] == 5.0


def test_spans_that_touch_on_the_page_are_one() -> None:
    flag = np.array([1, 1, 0, 1, 0, 0, 0, 0, 1], bool)
    np.testing.assert_array_equal(spans(np.arange(9), flag, 2.0), [[0, 3], [8, 8]])
    assert spans(np.arange(3), np.zeros(3, bool), 1.0).shape == (0, 2)


def test_every_other_point_bad_costs_no_more_than_a_page_of_spans() -> None:
    flag = np.arange(100_000) % 2 == 0
    assert len(spans(np.arange(100_000), flag, 100.0)) == 1
