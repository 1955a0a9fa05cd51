# ruff: noqa: E501 - the lines of logs are long
from pathlib import Path

import pytest

from forensics.run import TextKind
from tests.readers.text_logs import kinds, read, shown


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeWarning: overflow encountered in exp",
        "OverflowError: Python int too large to convert to C long",
        "overflow_check = True",
        "loss scale: 65536, loss scale window: 1000",
        "using dynamic loss scale with initial loss scale 65536",
    ],
)
def test_talk_of_overflow_is_none(tmp_path: Path, line: str) -> None:
    reading = read(tmp_path, f"step 1 loss 2.5\n{line}\nstep 2 loss 2.4\n")
    assert TextKind.OVERFLOW not in kinds(reading)
    assert "loss scale" not in shown(reading)


def overflows(tmp_path: Path, text: str) -> tuple[list[int | None], tuple[list[int], list[float]]]:
    """Steps of the overflows, and the loss scale."""
    reading = read(tmp_path, text)
    steps = [e.step for e in reading.text if e.kind is TextKind.OVERFLOW]
    return steps, shown(reading).get("loss scale", ([], []))


@pytest.mark.parametrize(
    "line",
    [
        "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
        "[Rank 0] Overflow detected. Skipping step. Attempted loss scale: 65536.0, reducing to 32768.0",
        "NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: 32768.0",
        "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0",
        "2026-08-22 10:00:00 | INFO | fairseq.trainer | NOTE: gradient overflow detected, ignoring gradient, "
        "setting loss scale to: 32768.0",
    ],
)
def test_each_library_says_it_its_own_way(tmp_path: Path, line: str) -> None:
    text = f"step 10 loss 2.5\n{line}\nstep 20 loss 2.4\n"
    assert overflows(tmp_path, text) == ([11], ([11], [32768.0]))


def test_each_overflow_is_one_step(tmp_path: Path) -> None:
    lines = "".join(
        f"Overflow detected. Skipping step. Attempted loss scale: {2**k}, reducing to {2 ** (k - 1)}\n"
        for k in (16, 15, 14)
    )
    steps, (at, scale) = overflows(tmp_path, "step 10 loss 2.5\n" + lines + "step 20 loss 2.4\n")
    assert steps == at == [11, 12, 13]
    assert scale == [2**15, 2**14, 2**13]


def test_overflows_do_not_run_past_the_next_step(tmp_path: Path) -> None:
    lines = "OVERFLOW! Rank 0 Skipping step.\n" * 4
    assert overflows(tmp_path, "step 10 loss 2.5\n" + lines + "step 12 loss 2.4\n")[0] == [
        11,
        12,
        12,
        12,
    ]


def test_all_ranks_and_all_ways_of_saying_it_are_one(tmp_path: Path) -> None:
    def said(n: int, before: int) -> str:
        change = f"[INFO] [fused_optimizer.py:363:_update_scale] Reducing dynamic loss scale from {before} to {before / 2}\n"
        grad = f"[INFO] [fused_optimizer.py:362:_update_scale]\nGrad overflow on iteration {n}\n"
        main = f"[Rank 0] Overflow detected. Skipping step. Attempted loss scale: {before}, reducing to {before / 2}\n"
        return grad + change + main + grad * 3 + change * 3

    text = (
        said(0, 65536)
        + said(1, 32768)
        + "[Rank 0] step=10, skipped=2, lr=[5e-05], mom=[0.9]\n"
        + said(15, 16384)
    )
    steps, (at, scale) = overflows(tmp_path, text)
    assert steps == at == [0, 1, 15]
    assert scale == [32768, 16384, 8192]


def test_a_scale_that_grows_is_no_overflow(tmp_path: Path) -> None:
    line = "[INFO] [fused_optimizer.py:370:_update_scale] Increasing dynamic loss scale from 64.0 to 128.0\n"
    assert overflows(tmp_path, "step 10 loss 2.5\n" + line) == ([], ([11], [128.0]))


def test_the_same_change_later_is_another(tmp_path: Path) -> None:
    line = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 262144.0\n"
    steps, (at, scale) = overflows(tmp_path, f"step 1 loss 2.5\n{line}step 2001 loss 2.4\n{line}")
    assert steps == at == [2, 2002]
    assert scale == [262144.0, 262144.0]


def test_of_many_lines_the_first_and_the_last_are_kept(tmp_path: Path) -> None:
    text = "".join(f"step {s} loss 2.5\nOVERFLOW! Rank 0 Skipping step.\n" for s in range(500))
    reading = read(tmp_path, text)
    steps = [e.step for e in reading.text if e.kind is TextKind.OVERFLOW]
    assert steps == [*range(1, 41), *range(491, 501)]
    assert any("500 lines of the kind overflow" in note.text for note in reading.notes)
