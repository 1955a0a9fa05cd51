import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.readers._text.grammar import read_line
from forensics.readers._text.templates import Template, learn


def template_of(line: str) -> Template:
    reading = read_line(line)
    assert reading is not None
    template = learn(line, reading)
    assert template is not None
    return template


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("step 5 loss 2.5", "step 5 val loss 2.5"),
        ("step 5 loss 2.5", "step 5 loss 2.5 (cut)"),
        ("loss_q1: 2.5 step: 3", "loss_q2: 2.5 step: 3"),
        ("step: 3 loss: 2.5 9", "step: 3 loss: 2.59"),
        ("step: 3 loss: 2.5", "step: 3 loss: 2.5\nstep: 4 loss: 2.5"),
        ("step 5 acc1 50.0 acc5 70.0", "step 5 acc5 70.0 acc1 50.0"),
    ],
)
def test_a_line_that_says_something_else_does_not_match(line: str, other: str) -> None:
    assert template_of(line).match.fullmatch(other) is None


@pytest.mark.parametrize(
    ("line", "other", "numbers"),
    [
        ("step 5 loss 2.5", "step 12345 loss nan", ("12345", "nan")),
        ("iter:    5/ 100 loss: 2.5", "iter: 1005/9100 loss:-1e-05", ("1005", "9100", "-1e-05")),
        (
            "[2026-08-22 10:00:00,123] step=1, lr=[5e-05, 5e-05]",
            "[2026-09-01 11:10:59,001] step=20, lr=[4.9e-05, 4.9e-05]",
            ("2026-09-01 11:10:59,001", "20", "4.9e-05"),
        ),
        (
            " 42%|████▏     | 42/100 [00:12<00:17,  3.40it/s, loss=2.3]",
            "100%|██████████| 100/100 [1:00:12<?, 1.40s/it, loss=inf]",
            ("100", "100", "inf"),
        ),
        (
            "1/6 ━━━━━━━━━━ 0s 15ms/step - loss: 0.68",
            "6/6 ━━━━━━━━━━━━━━━━━━━━ 1:02 1s/step - loss: 0.65",
            ("6", "6", "0.65"),
        ),
    ],
)
def test_a_line_of_the_same_make_matches(line: str, other: str, numbers: tuple[str, ...]) -> None:
    match = template_of(line).match.fullmatch(other)
    assert match is not None
    assert match.groups() == numbers


@given(
    st.integers(0, 10**7),
    st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(-5, 5).map(float)),
    st.sampled_from(["{:.4f}", "{:.6e}", "{}", "{:>12.3g}", "{:+.2f}"]),
)
def test_fast_and_slow_read_the_same(step: int, loss: float, form: str) -> None:
    first = template_of("10:00:00 - INFO - step: 7 | loss: 2.5000 | lr: 1.0e-04")
    line = f"11:30:00 - INFO - step: {step} | loss: {form.format(loss)} | lr: 1.5e-04"
    match = first.match.fullmatch(line)
    reading = read_line(line)
    assert reading is not None
    assert match is None or match.groups() == tuple(line[a:b] for a, b in reading.spans)
    assert match is None or reading.layout == first.layout


def test_what_must_be_read_line_by_line_teaches_nothing() -> None:
    line = "Test: [ 77/78]  Time: 0.5 (0.5)  Loss:  1.1 ( 1.2)"
    reading = read_line(line)
    assert reading is not None
    assert learn(line, reading) is None
