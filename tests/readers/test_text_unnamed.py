import math
from pathlib import Path

import pytest

from forensics.readers.text_log import READER
from forensics.run import Axis
from forensics.signals import Signal
from tests.readers.text_logs import probe, read, shown

FALLING = [1.07, 0.81, 0.66, 0.52, 0.47, 0.31]


def lines(pattern: str, values: list[float], first: int = 0) -> str:
    return "".join(pattern % (first + k, value) + "\n" for k, value in enumerate(values))


@pytest.mark.parametrize(
    "text",
    [
        lines("Epoch %d: %f", FALLING[:4]),  # too few
        lines("Epoch %d: %f", [3.1, 6.2, 9.3, 12.4, 15.5, 18.6]),  # a clock
        lines("Epoch %d: %f", [0.31, 0.52, 0.61, 0.66, 0.7, 0.71]),  # an accuracy
        lines("Epoch %d: %fs", FALLING),
        lines("Epoch %d: %.0f", FALLING),
        "".join(f"[3] {value}\n" for value in FALLING),  # counts nothing
        "".join(f"shard {k} of {value}\n" for k, value in enumerate(FALLING)),
        lines("Epoch %d: %f and more", FALLING),
    ],
)
def test_a_number_that_may_be_anything_is_no_loss(tmp_path: Path, text: str) -> None:
    assert not any(s.signal is Signal.TRAIN_LOSS for s in read(tmp_path, text).series)


def test_beside_a_named_loss_it_is_none(tmp_path: Path) -> None:
    text = lines("Epoch %d: %f", FALLING) + lines("step %d loss %f", [2.0, 1.9, 1.8])
    assert shown(read(tmp_path, text))["loss"] == ([0, 1, 2], [2.0, 1.9, 1.8])


@pytest.mark.parametrize(
    ("pattern", "axis"),
    [
        ("Epoch %d: %f", Axis.EPOCH),
        ("Epoch %d, %f", Axis.EPOCH),
        ("epoch %d -> %f", Axis.EPOCH),
        ("Epoch [%d/6] %f", Axis.EPOCH),
        ("[%d] %f", Axis.STEP),
        ("Iter %d: %f", Axis.STEP),
        ("2026-11-30 23:50:03,422 root INFO: Epoch %d: %f", Axis.EPOCH),
    ],
)
def test_the_only_number_of_many_lines_that_count_is_the_loss(
    tmp_path: Path, pattern: str, axis: Axis
) -> None:
    text = lines(pattern, FALLING)
    (loss,) = (s for s in read(tmp_path, text).series if s.signal is Signal.TRAIN_LOSS)
    assert loss.value.tolist() == FALLING
    assert loss.step.tolist() == [0, 1, 2, 3, 4, 5]
    assert loss.axis is axis
    assert READER.sniff(probe(tmp_path, text, "out.txt"))


def test_a_loss_that_breaks_is_still_it(tmp_path: Path) -> None:
    values = shown(read(tmp_path, lines("Epoch %d: %s", [*FALLING, math.nan, math.nan])))["loss"][1]
    assert math.isnan(values[-1])
    grown = [1.0 * 3**k for k in range(8)]
    assert shown(read(tmp_path, lines("Epoch %d: %f", grown)))["loss"][1] == grown


def graph_log(train: list[float], val: list[float], test: list[float]) -> str:
    rows = zip(FALLING, train, val, test, strict=False)
    return "".join(
        f"Epoch: {k:03d}, Loss: {a:.4f}, Train: {b:.4f}, Val: {c:.4f}, Test: {d:.4f}\n"
        for k, (a, b, c, d) in enumerate(rows)
    )


def test_parts_beside_a_loss_that_are_no_shares_stay_unknown(tmp_path: Path) -> None:
    text = graph_log([2.1, 1.9], [2.3, 2.2], [2.4, 2.3])
    signals = {s.tag: s.signal for s in read(tmp_path, text).series}
    assert signals["Train"] is Signal.OTHER


@pytest.mark.parametrize("scale", [1, 100])
def test_parts_beside_a_loss_are_accuracies(tmp_path: Path, scale: int) -> None:
    text = graph_log(
        [0.3 * scale, 0.6 * scale], [0.2 * scale, 0.5 * scale], [0.1 * scale, 0.4 * scale]
    )
    signals = {s.tag: s.signal for s in read(tmp_path, text).series}
    assert signals["Train accuracy"] is Signal.TRAIN_ACCURACY
    assert signals["Val accuracy"] is signals["Test accuracy"] is Signal.EVAL_ACCURACY


def test_a_loss_and_one_other_part_may_be_a_loss(tmp_path: Path) -> None:
    text = "Epoch: 1, Loss: 0.51, Val: 0.55\nEpoch: 2, Loss: 0.41, Val: 0.45\n"
    assert "Val accuracy" not in shown(read(tmp_path, text))
