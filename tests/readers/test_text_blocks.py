# ruff: noqa: E501 - the lines of logs are long
from pathlib import Path

import pytest

from forensics.readers._text.blocks import HeadedTable
from forensics.run import Axis
from tests.readers.text_logs import read, shown


@pytest.mark.parametrize(
    "line",
    [
        "Learning rate and loss are logged every step",
        "loss, accuracy and friends are printed below",
        "step: 5 | loss: 2.5",
        "| a loss of generality | is what we have here",
        "10 | 2.5 | 3.1",
        "The loss | is a number | that falls",
    ],
)
def test_prose_is_no_header(line: str) -> None:
    table = HeadedTable()
    assert table.feed(line) == (False, None)
    assert table.feed("5 | 2.5 | 3.1") == (False, None)


def test_a_table_of_results_is_no_log(tmp_path: Path) -> None:
    text = "lr   | gamma | outcome\n1e-3 | 0.95  | NaN\n5e-4 | 0.95  | normal <0.07, then >732M\n"
    assert read(tmp_path, text).series == ()


def test_a_pasted_table_is_read_and_a_dash_is_not_logged(tmp_path: Path) -> None:
    text = (
        "  idx | loss      | grad_norm | lr     | epoch\n"
        "  1   | 5.6332    | -         | 0.0002 | 0.09\n"
        "  2   | 153318.95 | nan       | 0.0002 | 0.09\n"
        "  3   | 5.7517    | -         | 0.0002 | 0.09\n"
    )
    found = shown(read(tmp_path, text))
    assert found["loss"] == ([1, 2, 3], [5.6332, 153318.95, 5.7517])
    steps, values = found["grad_norm"]
    assert steps == [2]
    assert values[0] != values[0]
    assert found["lr"] == ([1, 2, 3], [0.0002] * 3)


def test_a_row_of_validation_says_so(tmp_path: Path) -> None:
    text = "step | loss   | grad_norm\n10   | 2.6030 | 9.9375\n11   | 2.3224 | nan\n29(val) | 3.5 | -\n"
    found = shown(read(tmp_path, text))
    assert found["loss"] == ([10, 11], [2.603, 2.3224])
    assert found["val loss"] == ([29], [3.5])


def test_a_counter_may_have_a_total_and_a_number_a_remark(tmp_path: Path) -> None:
    text = "step  | loss   | lr\n2588/10485 | 6.6635 | 0.00017634569655424395 (epoch 0.25)\n"
    found = shown(read(tmp_path, text))
    assert found == {"loss": ([2588], [6.6635]), "lr": ([2588], [0.00017634569655424395])}


@pytest.mark.parametrize(
    "text",
    [
        "| step | loss | lr |\n|---|---:|---|\n| 10 | 2.5 | 1e-4 |\n| 20 | nan | 1e-4 |\n",
        "step,loss,lr\n10,2.5,1e-4\n20,nan,1e-4\n",
        "Step\tLoss\tLR\n10\t2.5\t1e-4\n20\tnan\t1e-4\n",
        "step   loss    lr\n10     2.5     1e-4\n20     nan     1e-4\n",
        "log follows\n\nstep | loss | lr\n-----+------+-----\n10 | 2.5 | 1e-4\nsaved\n20 | nan | 1e-4\n",
    ],
)
def test_the_separator_does_not_matter(tmp_path: Path, text: str) -> None:
    found = {tag.lower(): points for tag, points in shown(read(tmp_path, text)).items()}
    steps, values = found["loss"]
    assert steps == [10, 20]
    assert values[0] == 2.5
    assert values[1] != values[1]
    assert found["lr"] == ([10, 20], [1e-4, 1e-4])


def test_tables_by_epoch_are_by_epoch(tmp_path: Path) -> None:
    text = (
        "epoch     train_loss  valid_loss  accuracy  time\n"
        "0         2.345678    1.234567    0.543210  00:10\n"
        "1         1.345678    0.934567    0.743210  00:11\n"
    )
    reading = read(tmp_path, text)
    assert {s.axis for s in reading.series} == {Axis.EPOCH}
    assert shown(reading)["train_loss"] == ([0, 1], [2.345678, 1.345678])
    assert shown(reading)["valid_loss"] == ([0, 1], [1.234567, 0.934567])


def test_the_last_repaint_of_a_row_counts(tmp_path: Path) -> None:
    head = "      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size\n"
    row = "      {e}/2      3.21G      {b}      {c}         15        640: {p}%|███  | {n}/10 [00:01<00:01,  9.5it/s]"
    text = head + "\r".join(
        row.format(e=1, b=3.5 - n / 10, c=2.5, p=n * 10, n=n) for n in (1, 5, 10)
    )
    text += "\n" + head + row.format(e=2, b=1.5, c="nan", p=100, n=10) + "\n"
    reading = read(tmp_path, text)
    assert shown(reading)["box_loss"] == ([1, 2], [2.5, 1.5])
    assert shown(reading)["cls_loss"][0] == [1, 2]
    assert {s.axis for s in reading.series} == {Axis.EPOCH}


def box(step: str, loss: str) -> str:
    rule = "-" * 24
    return f"{rule}\n| grad_norm | 68.3     |\n| loss      | {loss:8} |\n| step      | {step:8} |\n{rule}\n"


def test_boxes_are_rows(tmp_path: Path) -> None:
    text = (
        "training...\n"
        + box("0", "13.1")
        + "saving model 0...\n"
        + box("20", "nan")
        + box("40", "12")
    )
    found = shown(read(tmp_path, text))
    assert found["loss"][0] == [0, 20, 40]
    assert found["grad_norm"] == ([0, 20, 40], [68.3] * 3)


def test_sections_of_a_box_are_part_of_the_names(tmp_path: Path) -> None:
    text = (
        "---------------------------------\n"
        "| rollout/           |          |\n"
        "|    ep_rew_mean     | 9.5      |\n"
        "| time/              |          |\n"
        "|    iterations      | 2        |\n"
        "|    total_timesteps | 4096     |\n"
        "| train/             |          |\n"
        "|    value_loss      | 0.25     |\n"
        "---------------------------------\n"
    )
    found = shown(read(tmp_path, text))
    assert found["rollout/ep_rew_mean"] == ([4096], [9.5])
    assert found["train/value_loss"] == ([4096], [0.25])


def test_steps_that_were_rounded_are_filled_in(tmp_path: Path) -> None:
    steps = list(range(0, 30000, 20))
    text = "".join(box(f"{step:.3g}", "2.5") for step in steps)
    assert shown(read(tmp_path, text))["loss"][0] == steps


def test_a_box_that_the_file_cuts_gives_what_is_there(tmp_path: Path) -> None:
    text = (
        box("0", "13.1")
        + "-" * 24
        + "\n| loss      | 12       |\n| step      | 20       |\n| lr    "
    )
    assert shown(read(tmp_path, text))["loss"] == ([0, 20], [13.1, 12.0])
