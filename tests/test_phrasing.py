import pytest

from forensics.findings import EpisodeKind
from forensics.phrasing import (
    at_step,
    between,
    count,
    counted_in,
    listing,
    number,
    percent,
    stretch,
    the_batch,
    times,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.03214, "0.0321"),
        (12.345, "12.3"),
        (999.99, "1,000"),
        (1234.5, "1,234"),
        (3e-5, "3e-5"),
        (2.5e-4, "2.5e-4"),
        (1.5e19, "1.5e19"),
        (-0.5, "-0.5"),
        (float("nan"), "NaN"),
        (float("-inf"), "-infinity"),
    ],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_words_around_numbers() -> None:
    assert percent(0.004) == "0.4 %"
    assert percent(0.34) == "34 %"
    assert times(12.04) == "12 times"
    assert at_step(1200) == "step 1,200"
    assert (count(1, "spike"), count(3, "spike")) == ("1 spike", "3 spikes")


def test_long_lists_are_cut() -> None:
    assert listing([]) == "no step"
    assert listing([7]) == "step 7"
    assert listing([7, 9]) == "steps 7 and 9"
    assert listing(range(9)) == "steps 0, 1, 2, 3 and 5 more"


def test_places_and_lengths_are_in_what_the_run_counts() -> None:
    with counted_in("epoch"):
        assert at_step(12) == "epoch 12"
        assert listing([7, 9]) == "epochs 7 and 9"
        assert between(3, 8) == "epochs 3 to 8"
        assert between(3, 3) == "epoch 3"
        assert (stretch(1), stretch(24)) == ("1 epoch", "24 epochs")
        assert the_batch(4) == "the batches of epoch 4"
    assert the_batch(4) == "the batch of step 4"


def test_nearly_all_is_not_all() -> None:
    assert percent(0.997) == ">99 %"
    assert percent(1.0) == "100 %"


def test_words_in_the_plural() -> None:
    assert count(2, "epoch") == "2 epochs"
    assert count(2, "batch") == "2 batches"
    assert count(2, "training loss") == "2 training losses"


def test_what_happened_is_a_noun() -> None:
    assert [k.noun for k in (EpisodeKind.NON_FINITE, EpisodeKind.LOSS_SPIKE)] == [
        "non-finite value",
        "loss spike",
    ]
