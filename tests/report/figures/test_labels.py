import itertools
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.report.figures._labels import ROWS, LabelRows
from forensics.report.figures._style import NARROW


@dataclass(frozen=True)
class _Flag:
    step: int
    label: str


def test_without_words_there_is_no_row() -> None:
    assert LabelRows((0, 100), NARROW).row(_Flag(5, "")) is None


def test_neighbours_go_to_different_rows_until_there_is_none() -> None:
    rows = LabelRows((0, 1000), NARROW)
    given_rows = [rows.row(_Flag(10 + n, "onset 1,240")) for n in range(3)]
    assert given_rows[0] == 0
    assert given_rows[2] is None


def test_a_label_at_the_right_edge_stands_left_of_its_line() -> None:
    rows = LabelRows((0, 1000), NARROW)
    assert rows.flipped(_Flag(990, "onset 990"))
    assert not rows.flipped(_Flag(10, "onset 10"))


@settings(deadline=None)
@given(st.lists(st.integers(0, 1000), max_size=30))
def test_no_two_labels_of_a_row_meet(steps: list[int]) -> None:
    rows = LabelRows((0, 1000), NARROW)
    placed = [(rows.row(flag), rows._span(flag)) for flag in (_Flag(s, "resume") for s in steps)]
    for row in range(ROWS):
        spans = sorted(span for at, span in placed if at == row)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
