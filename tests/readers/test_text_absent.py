# ruff: noqa: E501 - the lines of logs are long
"""Megatron prints no loss where it is NaN."""

import math
from pathlib import Path

from tests.readers.text_logs import read, shown


def line(step: int, loss: str = "", grad: str = " grad norm: 1.234 |", skipped: int = 0) -> str:
    field = f" lm loss: {loss} |" if loss else ""
    return (
        f" iteration {step:8d}/  500000 | consumed samples: {step * 256:12d} | elapsed time per iteration (ms): 12.5 | "
        f"learning rate: 1.500000E-05 | global batch size:   256 |{field} loss scale: 1.0 |{grad} "
        f"number of skipped iterations: {skipped:3d} | number of nan iterations:   0 |\n"
    )


def test_complete_lines_lack_nothing(tmp_path: Path) -> None:
    reading = read(tmp_path, "".join(line(s, f"{s}.500000E+00") for s in range(1, 6)))
    assert shown(reading)["lm loss"] == ([1, 2, 3, 4, 5], [1.5, 2.5, 3.5, 4.5, 5.5])
    assert reading.notes == ()


def test_a_skipped_iteration_is_not_nan(tmp_path: Path) -> None:
    text = line(1, "9.5E+00") + line(2, grad="", skipped=1) + line(3, "9.1E+00")
    found = shown(read(tmp_path, text))
    assert found["lm loss"] == ([1, 3], [9.5, 9.1])
    assert found["number of skipped iterations"] == ([1, 2, 3], [0, 1, 0])


def test_other_lines_without_a_loss_are_not_nan(tmp_path: Path) -> None:
    text = "".join(
        f"step {s} loss 2.5\n" * (s % 5 == 0) + f"step {s} lr 0.1 grad_norm 1.5\n"
        for s in range(20)
    )
    assert shown(read(tmp_path, text))["loss"][0] == [0, 5, 10, 15]


def test_a_missing_loss_is_nan_and_the_user_is_told(tmp_path: Path) -> None:
    reading = read(tmp_path, line(1, "9.5E+00") + line(2, grad=" grad norm: nan |") + line(3))
    steps, values = shown(reading)["lm loss"]
    assert steps == [1, 2, 3]
    assert values[0] == 9.5
    assert [math.isnan(v) for v in values] == [False, True, True]
    assert any("iteration lines without their loss: 2" in note.text for note in reading.notes)


def test_a_loss_never_printed_is_nan_where_the_gradient_is(tmp_path: Path) -> None:
    text = "".join(line(s, grad=" grad norm: nan |") for s in (1, 2))
    assert shown(read(tmp_path, text))["lm loss"][0] == [1, 2]
    assert "lm loss" not in shown(read(tmp_path, line(1) + line(2)))
