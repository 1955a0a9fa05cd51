import pytest

from forensics.causes._wording import at_step, count, listing, number, percent, times


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
