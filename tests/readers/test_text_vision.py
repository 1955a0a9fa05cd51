# ruff: noqa: E501, PERF401 - the lines of logs are long
"""Logs of vision trainings: torchvision's references, timm, the ImageNet example, nnU-Net, DCGAN."""

from pathlib import Path

import numpy as np
import pytest

from forensics.readers._base import Probe, no_progress
from forensics.readers.text_log import READER
from forensics.run import Axis, Series
from forensics.signals import Signal


def read(tmp_path: Path, text: str, name: str = "log.txt") -> dict[str, Series]:
    """The series of a log, by tag."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    probe = Probe(path, tmp_path, path.stat().st_size)
    assert READER.sniff(probe)
    return {one.tag: one for one in READER.read(probe, no_progress).series}


def torchvision(epochs: int) -> str:
    lines = []
    for epoch in range(epochs):
        for i in (0, 10, 20):
            lines.append(
                f"Epoch: [{epoch}]  [{i:2}/25]  eta: 0:00:04  lr: 0.05  img/s: {300 + i}.5  "
                f"loss: {2 - epoch}.1000 ({2 - epoch}.5000)  acc1: 6.2500 (7.5000)  time: 0.10"
            )
        lines.append(f"Epoch: [{epoch}] Total time: 0:00:01")
        for i in (0, 2, 3):
            lines.append(
                f"Test:   [{i}/4]  eta: 0:00:00  loss: 9.0000 (1.{i}000)  acc1: 50.0000 (5{i}.0000)  time: 0.01"
            )
        lines += ["Test:  Total time: 0:00:00", f"Test:  Acc@1 7{epoch}.250 Acc@5 90.125"]
    return "\n".join(lines) + "\n"


def test_speed_is_no_step_and_a_running_mean_is_not_the_loss(tmp_path: Path) -> None:
    series = read(tmp_path, torchvision(2))
    assert series["img/s"].signal is Signal.SPEED
    assert series["loss"].signal is Signal.TRAIN_LOSS
    assert series["loss"].step.tolist() == [0, 10, 20, 25, 35, 45]
    assert series["loss"].value.tolist() == [2.1, 2.1, 2.1, 1.1, 1.1, 1.1]
    assert series["loss (avg)"].signal is Signal.TRAIN_LOSS_EPOCH


def test_the_last_line_of_each_evaluation_stands_at_the_end_of_its_epoch(tmp_path: Path) -> None:
    series = read(tmp_path, torchvision(2))
    loss = series["val loss"]
    assert loss.signal is Signal.EVAL_LOSS
    assert loss.step.tolist() == [20, 45]
    assert loss.value.tolist() == [1.3, 1.3]
    assert series["val acc1"].value.tolist() == [53.0, 53.0]
    assert series["val Acc@1"].value.tolist() == [70.25, 71.25]
    assert series["val Acc@1"].signal is Signal.EVAL_ACCURACY


def test_an_evaluation_of_which_only_the_first_batch_is_printed(tmp_path: Path) -> None:
    text = torchvision(3).replace("Test:   [2/4]", "# [2/4]").replace("Test:   [3/4]", "# [3/4]")
    assert read(tmp_path, text)["val loss"].value.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "lead", ["", "2026-08-22 10:00:00,123 -                train: [    INFO] - "]
)
def test_timm_counts_through_its_epochs(tmp_path: Path, lead: str) -> None:
    lines = []
    for epoch in range(3):
        for i in (0, 10, 19):
            lines.append(
                f"{lead}Train: {epoch} [{i:4}/20 ({5 * i:3}%)]  Loss: 2.{i:02} (2.50)  Time: 0.452s,   70.77/s"
                f"  (0.452s,   70.77/s)  LR: 6.000e-03  Data: 0.001 (0.001)"
            )
        for i in (0, 3):
            lines.append(
                f"{lead}Test: [{i:4}/3]  Time: 0.1 (0.2)  Loss:  2.0 (1.{i})  Acc@1: 10.0 (1{i}.0)  Acc@5: 50.0 (50.0)"
            )
    series = read(tmp_path, "\n".join(lines) + "\n", "train.log")
    assert series["Loss"].axis is Axis.STEP
    assert series["Loss"].step.tolist() == [0, 10, 19, 20, 30, 39, 40, 50, 59]
    assert series["val Loss"].step.tolist() == [19, 39, 59]
    assert series["val Loss"].value.tolist() == [1.3, 1.3, 1.3]
    assert not {"Train", "Test"} & set(series)


def test_the_imagenet_example_ends_an_epoch_on_a_star(tmp_path: Path) -> None:
    lines = []
    for epoch in range(3):
        for i in (1, 11):
            lines.append(
                f"Epoch: [{epoch}][ {i:2}/20]\tTime  0.1 ( 0.2)\tLoss 6.9{i}e+00 (6.9e+00)\tAcc@1   0.00 (  0.39)"
            )
        lines.append(f" *   Acc@1 1{epoch}.500 Acc@5 30.250")
    series = read(tmp_path, "\n".join(lines) + "\n")
    assert series["val Acc@1"].value.tolist() == [10.5, 11.5, 12.5]
    assert series["val Acc@1"].step.tolist() == [11, 31, 51]


def test_nnunet_stamps_every_line_and_its_losses_may_be_negative(tmp_path: Path) -> None:
    lines = ["2026-08-22 10:00:00.522138: unpacking dataset... "]
    for epoch in range(4):
        stamp = f"2026-08-22 10:0{epoch}:00.522138: "
        lines += [
            "",
            f"{stamp}Epoch {epoch} ",
            f"{stamp}Current learning rate: {0.01 - 0.001 * epoch:.3f} ",
        ]
        lines += [
            f"{stamp}train_loss {0.5 - 0.25 * epoch:.4f} ",
            f"{stamp}val_loss {0.6 - 0.2 * epoch:.4f} ",
        ]
        lines += [f"{stamp}Pseudo dice [0.{epoch + 2}097, 0.373] ", f"{stamp}Epoch time: 11.77 s "]
        lines += [f"{stamp}Yayy! New best EMA pseudo Dice: 0.3892 "]
    series = read(tmp_path, "\n".join(lines) + "\n", "training_log_2026_8_22_10_00_00.txt")
    assert series["train_loss"].axis is Axis.EPOCH
    assert series["train_loss"].step.tolist() == [0, 1, 2, 3]
    assert series["train_loss"].value.tolist() == [0.5, 0.25, 0.0, -0.25]
    assert series["val_loss"].signal is Signal.EVAL_LOSS
    assert series["Current learning rate"].signal is Signal.LR
    assert series["Pseudo dice/1"].value.tolist() == [0.2097, 0.3097, 0.4097, 0.5097]
    assert series["Pseudo dice/2"].signal is Signal.EVAL_ACCURACY


def test_dcgan_counts_through_its_epochs(tmp_path: Path) -> None:
    lines = [
        f"[{epoch}/3][{i}/10] Loss_D: 1.{i}000 Loss_G: 0.7956 D(x): 0.4875 D(G(z)): 0.5063 / 0.4600"
        for epoch in range(3)
        for i in range(10)
    ]
    series = read(tmp_path, "\n".join(lines) + "\n", "train.txt")
    assert np.array_equal(series["Loss_D"].step, np.arange(30))
    assert {"Loss_G", "D(x)", "D(G(z))"} <= set(series)
