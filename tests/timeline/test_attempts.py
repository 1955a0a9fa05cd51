import numpy as np
import pytest

from forensics.timeline._attempts import resolve


def steps(*values):
    return np.array(values, np.int64)


def test_a_plain_series_is_left_alone():
    found = resolve(steps(0, 10, 20, 30))
    assert found.kept.tolist() == [0, 1, 2, 3]
    assert found.superseded == ()
    assert found.starts == ()


def test_one_late_row_is_no_restart():
    found = resolve(steps(0, 10, 20, 15, 30, 40, 50, 60))
    assert found.starts == ()
    assert found.kept.tolist() == [0, 1, 3, 2, 4, 5, 6, 7]


def test_rows_written_in_no_order_are_sorted():
    order = np.random.default_rng(0).permutation(100)
    found = resolve(order.astype(np.int64))
    assert order[found.kept].tolist() == list(range(100))
    assert found.starts == ()


def test_a_repeated_step_keeps_what_was_written_last():
    assert resolve(steps(0, 10, 10, 20)).kept.tolist() == [0, 2, 3]


def test_a_rewind_supersedes_what_it_replaces():
    found = resolve(steps(0, 10, 20, 30, 40, 20, 30, 40, 50))
    assert found.kept.tolist() == [0, 1, 5, 6, 7, 8]
    assert [s.tolist() for s in found.superseded] == [[2, 3, 4]]
    assert found.starts == ((5, 40),)


def test_a_boundary_without_rewind_is_a_resume():
    found = resolve(steps(0, 10, 20, 30, 40), boundaries=(3,))
    assert found.starts == ((3, None),)
    assert found.superseded == ()


def test_a_restart_from_the_beginning_wins_when_it_got_far():
    found = resolve(np.concatenate([np.arange(50), np.arange(40)]))
    assert found.kept.tolist() == list(range(50, 90))


def test_a_second_start_that_was_stopped_at_once_does_not_hide_the_run():
    found = resolve(np.concatenate([np.arange(500), np.arange(4)]))
    assert len(found.kept) == 500
    assert [len(s) for s in found.superseded] == [4]


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_and_one_point(n):
    assert len(resolve(np.arange(n)).kept) == n
