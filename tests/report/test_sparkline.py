import numpy as np

from forensics.report.sparkline import BAD, BLOCKS, shown_track, sparkline
from tests.report import samples


def test_values_without_a_range_do_not_break_it() -> None:
    assert sparkline(np.full(5, 3.0), 10) == BLOCKS[0] * 5
    assert sparkline(np.full(5, np.nan), 10) == BAD * 5
    assert sparkline(np.array([1e308, -1e308]), 10) == BLOCKS[-1] + BLOCKS[0]
    assert shown_track(samples.bare().case) is None


def test_one_spike_and_one_nan_among_many_points_are_seen() -> None:
    value = np.ones(100_000)
    value[31_234], value[77_777] = 9.0, np.nan
    line = sparkline(value, 50)
    assert (len(line), line.count(BLOCKS[-1]), line.count(BAD)) == (50, 1, 1)


def test_a_wide_range_is_drawn_on_a_log_scale() -> None:
    line = sparkline(np.array([1.0, 10.0, 100.0]), 3)
    assert line == BLOCKS[0] + BLOCKS[4] + BLOCKS[-1]
