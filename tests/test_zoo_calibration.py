"""The calibration: its arithmetic on told runs, and its picture."""

import xml.etree.ElementTree as ElementTree

import pytest

from tests import zoo_calibration as calibration
from tests.zoo_calibration import Told


def told(probability: float, right: bool) -> Told:
    """A run of which ``probability`` was said of its first cause."""
    rest = (1 - probability) / 2
    said = {"a": probability, "b": rest, "": rest}
    return Told(said, frozenset({"a" if right else "b"}), True)


HONEST = [told(0.8, place % 5 != 0) for place in range(50)]


def test_none_of_these_is_never_the_first_cause():
    unsure = Told({"a": 0.2, "": 0.8}, frozenset({"a"}), True)
    assert unsure.first() == (pytest.approx(0.2), True)


def test_who_says_what_is_so_needs_no_other_temperature():
    assert calibration.best_temperature(HONEST) == pytest.approx(1.0, abs=0.15)
    assert calibration.brier(HONEST) == pytest.approx(0.16)


def test_who_is_too_sure_needs_a_higher_one_and_who_is_timid_a_lower_one():
    assert calibration.best_temperature([told(0.99, n % 2 == 0) for n in range(20)]) > 1.5
    assert calibration.best_temperature([told(0.6, True) for _ in range(20)]) < 0.8


def test_bins_hold_every_run_once():
    runs = [*HONEST, told(0.99, True), told(0.4, False)]
    assert sum(count for _, _, count, _, _ in calibration.bins(runs)) == len(runs)
    assert len(calibration.table(runs)) == 2 + 3


def test_the_interval_holds_its_share_and_narrows():
    few, many = calibration.interval(0.8, 5), calibration.interval(0.8, 500)
    assert few[0] < many[0] < 0.8 < many[1] < few[1] <= 1


def test_the_picture_is_one_and_repeats():
    drawn = calibration.svg(HONEST)
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert drawn == calibration.svg(HONEST)


def test_an_empty_folder_is_told_so(tmp_path, capsys):
    assert calibration.main([str(tmp_path)]) == 2
    assert "no runs" in capsys.readouterr().out
