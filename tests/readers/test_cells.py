import math

import pytest

from forensics.readers._tables.cells import is_not_logged, parse_number, parse_time, parse_total


@pytest.mark.parametrize("text", ["", "NA", "N/A", "null", "None", "-", "<NA>", " ", "No log"])
def test_not_logged_is_no_number(text):
    assert is_not_logged(text)
    assert parse_number(text) is None


@pytest.mark.parametrize(
    "text", ["overflow", "0:00:09", "1.2.3", "12 GB", "v2", "1e", "2024-01-01", "%", "1,2,3"]
)
def test_text_is_neither_a_number_nor_not_logged(text):
    assert parse_number(text) is None
    assert not is_not_logged(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2.3", 2.3),
        (" 1e-4 ", 1e-4),
        ("-inf", -math.inf),
        ("Infinity", math.inf),
        ("+Inf", math.inf),
        ("93.5%", 93.5),
        ("1,234.5", 1234.5),
        ("1,234,567", 1234567.0),
        ("1.05M", 1.05e6),
        ("12.3K", 12300.0),
        ("10/12", 10.0),
        ("2588 / 10485", 2588.0),
        ("tensor(2.3456, device='cuda:0')", 2.3456),
        ("tensor([0.5])", 0.5),
        ("np.float64(2.5)", 2.5),
        ("array(3.)", 3.0),
        ("1.5D-03", 1.5e-3),
        ("true", 1.0),
        ("False", 0.0),
    ],
)
def test_spellings_of_numbers(text, value):
    assert parse_number(text) == value


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "NAN", "tensor(nan)"])
def test_a_logged_nan_is_a_number(text):
    assert math.isnan(parse_number(text))
    assert not is_not_logged(text)


@pytest.mark.parametrize(
    ("text", "value"), [("2,345", 2.345), ("1.234,5", 1234.5), ("-0,5", -0.5), ("3", 3.0)]
)
def test_decimal_commas(text, value):
    assert parse_number(text, decimal_comma=True) == value


def test_totals():
    assert parse_total("10/12") == 12
    assert parse_total("10") is None


def test_moments():
    assert parse_time("1970-01-02 00:00:00") == 86400.0
    assert parse_time("1970/01/02T00:00:00,500") == 86400.5
    assert parse_time("1970-01-02T01:00:00+01:00") == 86400.0
    assert parse_time("0:00:09") is None
    assert parse_time("2024-13-45") is None
