# ruff: noqa: E501 - the lines of logs are long
"""Which x each row gets, from whole small logs."""

import math
from pathlib import Path

import numpy as np
import pytest

from forensics.readers._text.rounded import unround
from forensics.run import Axis, Series
from forensics.signals import Signal, classify
from tests.readers.text_logs import read, shown


def one(tmp_path: Path, text: str, tag: str) -> Series:
    (series,) = (s for s in read(tmp_path, text).series if s.tag == tag)
    return series


def test_a_global_step_is_not_multiplied_by_the_epoch(tmp_path: Path) -> None:
    text = "".join(
        f"epoch {e} step {e * 10 + i}/1000 loss 2.5\n" for e in (1, 2) for i in range(10)
    )
    assert one(tmp_path, text, "loss").step.tolist() == list(range(10, 30))


@pytest.mark.parametrize("first", [0, 1])
def test_an_iteration_that_starts_again_with_each_epoch(tmp_path: Path, first: int) -> None:
    text = "".join(
        f"Epoch [{e}/{first + 2}], Step [{i}/40], Loss: {e}.{i}\n"
        for e in (first, first + 1, first + 2)
        for i in (20, 40)
    )
    assert one(tmp_path, text, "Loss").step.tolist() == [20, 40, 60, 80, 100, 120]


def test_one_row_per_epoch_still_counts_iterations(tmp_path: Path) -> None:
    text = "".join(f"Epoch {e}, iteration 50/50, loss: 2.{e}\n" for e in (1, 2, 3))
    assert one(tmp_path, text, "loss").step.tolist() == [50, 100, 150]


def test_the_length_of_an_epoch_is_guessed_where_it_is_not_told(tmp_path: Path) -> None:
    text = "".join(f"[{e}, {i}] loss: 2.5\n" for e in (1, 2) for i in (2000, 4000, 6000))
    reading = read(tmp_path, text)
    assert shown(reading)["loss"][0] == [2000, 4000, 6000, 8000, 10000, 12000]
    assert any("length of an epoch" in note.text for note in reading.notes)


def test_a_resumed_log_begins_at_its_epoch(tmp_path: Path) -> None:
    text = "".join(f"Epoch: [{e}]  [{i}/100]  loss: 2.5 (2.5)\n" for e in (57, 58) for i in (0, 50))
    assert one(tmp_path, text, "loss").step.tolist() == [5600, 5650, 5700, 5750]


def test_samples_are_samples(tmp_path: Path) -> None:
    text = "".join(
        f"Train Epoch: {e} [{i}/60000 (1%)]\tLoss: 2.5\n" for e in (1, 2) for i in (0, 640)
    )
    series = one(tmp_path, text, "Loss")
    assert series.axis is Axis.SAMPLES
    assert series.step.tolist() == [0, 640, 60000, 60640]


def test_lines_without_a_step_belong_to_the_one_before(tmp_path: Path) -> None:
    text = (
        "validation loss: 9.0\n"
        "step 10: loss 5.0\nstep 20: loss 4.0\nvalidation loss: 4.5\n"
        "step 30: loss 3.0\nstep 40: loss 2.0\nvalidation loss: 2.5\n"
    )
    assert shown(read(tmp_path, text))["validation loss"] == ([0, 20, 40], [9.0, 4.5, 2.5])


def test_a_record_of_several_lines_belongs_to_its_head(tmp_path: Path) -> None:
    text = "".join(
        f"[step={s}/1000,epoch=1,eta=0:10:00]\n    train/CE loss={v}\n    optim/total grad norm={g}\n"
        f"    optim/step skipped=0.0\n    throughput/total tokens={s * 1000:,}\n"
        for s, v, g in [(1, 10.5, 3.25), (2, "nan", 2.5), (3, 9.5, 1.5)]
    )
    found = shown(read(tmp_path, text))
    assert found["train/CE loss"][0] == [1, 2, 3]
    assert math.isnan(found["train/CE loss"][1][1])
    assert found["optim/total grad norm"] == ([1, 2, 3], [3.25, 2.5, 1.5])
    assert found["throughput/total tokens"] == ([1, 2, 3], [1000, 2000, 3000])


def test_a_log_that_counts_nothing_is_counted_by_its_rows(tmp_path: Path) -> None:
    series = one(tmp_path, "loss: 3.0\nloss: 2.0\nsaved\nloss: nan\n", "loss")
    assert series.axis is Axis.ROW
    assert series.step.tolist() == [1, 2, 3]


def test_a_log_by_epochs_is_by_epochs(tmp_path: Path) -> None:
    text = "".join(f"Epoch {e}/3\ntrain loss: {4 - e}.5, val loss: {5 - e}.5\n" for e in (1, 2, 3))
    series = one(tmp_path, text, "train loss")
    assert series.axis is Axis.EPOCH
    assert (series.step.tolist(), series.value.tolist()) == ([1, 2, 3], [3.5, 2.5, 1.5])


def test_several_ranks_that_print_the_same_step_count_once(tmp_path: Path) -> None:
    text = "".join(f"[rank{r}]: step: {s}  loss: {s}.{r}\n" for s in (1, 2, 3) for r in range(4))
    assert shown(read(tmp_path, text))["loss"] == ([1, 2, 3], [1.0, 2.0, 3.0])


def test_a_step_that_another_attempt_repeats_is_kept(tmp_path: Path) -> None:
    text = "step 1 loss 3.0\nstep 2 loss 2.0\nResuming from checkpoint at step 2\nstep 2 loss 2.5\n"
    assert shown(read(tmp_path, text))["loss"] == ([1, 2, 2], [3.0, 2.0, 2.5])


def test_an_estimate_at_evaluation_is_kept_apart_from_the_loss(tmp_path: Path) -> None:
    text = "".join(
        f"step {s}: train loss {s}.5, val loss {s}.7\n" * (s % 4 == 0)
        + f"iter {s}: loss {s}.1, time 9.00ms\n"
        for s in range(8)
    )
    found = shown(read(tmp_path, text))
    assert found["loss"] == (list(range(8)), [s + 0.1 for s in range(8)])
    assert found["train loss (at evaluation)"] == ([0, 4], [0.5, 4.5])
    assert found["val loss"] == ([0, 4], [0.7, 4.7])
    assert classify("train loss (at evaluation)") is not Signal.TRAIN_LOSS


def test_without_other_losses_the_estimate_is_the_loss(tmp_path: Path) -> None:
    text = "".join(f"step {s}: train loss {s}.5, val loss {s}.7\n" for s in (0, 10))
    assert shown(read(tmp_path, text))["train loss"] == ([0, 10], [0.5, 10.5])


def test_the_mean_of_an_epoch_is_kept_apart_from_the_loss(tmp_path: Path) -> None:
    text = "".join(
        "".join(
            f"| train_inner | epoch {e:03d}:    {i} / 10 loss=8.{i}, num_updates={e * 10 - 10 + i}\n"
            for i in (5, 10)
        )
        + f"| train | epoch {e:03d} | loss 8.75 | num_updates {e * 10}\n"
        for e in (1, 2)
    )
    found = shown(read(tmp_path, text))
    assert found["loss"][0] == [5, 10, 15, 20]
    assert found["loss (epoch mean)"] == ([10, 20], [8.75, 8.75])
    assert classify("loss (epoch mean)") is Signal.TRAIN_LOSS_EPOCH


def test_validation_batches_are_no_steps(tmp_path: Path) -> None:
    text = "".join(
        f"Epoch(train)  [{e}][ 50/100]  loss: 1.5\nEpoch(train)  [{e}][100/100]  loss: 1.25\n"
        f"Epoch(val) [{e}][10/10]    coco/bbox_mAP: 0.5\n"
        for e in (1, 2)
    )
    found = shown(read(tmp_path, text))
    assert found["loss"][0] == [50, 100, 150, 200]
    assert found["coco/bbox_mAP"] == ([100, 200], [0.5, 0.5])


def test_time_stamps_are_wall_time_where_every_line_has_one(tmp_path: Path) -> None:
    stamped = "".join(
        f"2026-08-22 10:00:{s:02d},500 - INFO - step {s} loss 2.5\n" for s in range(3)
    )
    series = one(tmp_path, stamped, "loss")
    assert series.wall_time is not None
    assert np.diff(series.wall_time).tolist() == [1.0, 1.0]
    assert one(tmp_path, stamped + "step 3 loss 2.5\n", "loss").wall_time is None


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("step 1 loss 2.5000\nstep 2 loss 2.1234\n", 4),
        ("step 1 loss 2.5e-1\nstep 2 loss 2.1e-1\n", None),
        ("step 1 loss 2.123456789012\nstep 2 loss 2.5\n", None),
        ("step 1 loss 2\nstep 2 loss 3\n", None),
    ],
)
def test_the_decimals_of_a_logger_are_known(tmp_path: Path, text: str, digits: int | None) -> None:
    assert one(tmp_path, text, "loss").digits == digits


def test_steps_that_were_not_rounded_stay() -> None:
    values = np.array([0.0, 20.0, 40.0, 60.0])
    assert unround(values, {"": 4}).tolist() == [0, 20, 40, 60]


def test_a_rewind_of_rounded_steps_is_not_filled_over() -> None:
    values = np.array([980.0, 990.0, 1000.0, 1010.0, 1020.0, 500.0, 510.0])
    assert unround(values, {"": 5, "e+00": 2}).tolist() == [980, 990, 1000, 1010, 1020, 500, 510]
