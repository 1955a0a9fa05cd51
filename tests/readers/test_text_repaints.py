# ruff: noqa: E501 - the lines of logs are long
"""Progress bars: what each repaint tells that is new."""

import math
from pathlib import Path

from forensics.run import Axis
from tests.readers.text_logs import read, shown


def bar(n: int, total: int, postfix: str = "", desc: str = "") -> str:
    return f"\r{desc}{100 * n // total:3d}%|{'█' * (10 * n // total):10}| {n}/{total} [00:05<00:45,  2.00it/s{postfix}]"


def test_a_bar_without_quantities_logs_nothing(tmp_path: Path) -> None:
    reading = read(tmp_path, "".join(bar(n, 100) for n in range(100)))
    assert reading.series == ()
    assert reading.summary == "text without metrics"


def test_the_last_repaint_of_a_count_holds(tmp_path: Path) -> None:
    # the count moves on first, still with the loss of the step before
    text = "".join(
        bar(n, 10, f", loss={n - 1}.5") + bar(n, 10, f", loss={n}.5") for n in range(1, 11)
    )
    assert shown(read(tmp_path, text))["loss"] == (
        list(range(1, 11)),
        [n + 0.5 for n in range(1, 11)],
    )


def test_losses_painted_before_the_count_moves_on_are_spread(tmp_path: Path) -> None:
    text = "".join(
        bar(start, 30, f", loss={start + k}.5")
        for start in range(0, 30, 5)
        for k in ([-1] if start else []) + list(range(5))
    )
    assert shown(read(tmp_path, text))["loss"] == (list(range(30)), [k + 0.5 for k in range(30)])


def test_epochs_follow_one_another(tmp_path: Path) -> None:
    text = "".join(
        bar(0, 4, f", loss={e}.4" if e else "", f"Epoch {e}: ")
        + "".join(bar(n, 4, f", loss={e + 1}.{n}", f"Epoch {e}: ") for n in range(1, 5))
        for e in range(3)
    )
    steps, values = shown(read(tmp_path, text))["loss"]
    assert steps == list(range(1, 13))
    assert values == [e + n / 10 for e in (1, 2, 3) for n in (1, 2, 3, 4)]


def test_bars_that_start_again_unnamed_are_epochs(tmp_path: Path) -> None:
    text = "".join(bar(n, 4, f", loss={e}.{n}") for e in range(3) for n in range(1, 5))
    assert shown(read(tmp_path, text))["loss"][0] == list(range(1, 13))


def test_what_is_carried_along_is_told_once(tmp_path: Path) -> None:
    text = "".join(
        bar(n, 4, f", loss={e}.{n}" + (f", val_loss={e - 1}.5" if e else ""), f"Epoch {e}: ")
        for e in range(3)
        for n in range(1, 5)
    )
    found = shown(read(tmp_path, text))
    assert found["val_loss"] == ([5, 9], [0.5, 1.5])
    assert len(found["loss"][0]) == 12


def test_a_loss_that_stays_nan_is_told_at_every_count(tmp_path: Path) -> None:
    text = "".join(bar(n, 10, f", loss={'nan' if n > 4 else n}") for n in range(1, 11))
    steps, values = shown(read(tmp_path, text))["loss"]
    assert steps == list(range(1, 11))
    assert [math.isnan(v) for v in values] == [n > 4 for n in range(1, 11)]


def test_evaluation_bars_are_left_alone(tmp_path: Path) -> None:
    text = "".join(bar(n, 4, ", loss=9.9", "Validation DataLoader 0: ") for n in range(1, 5))
    assert read(tmp_path, text).series == ()


def test_text_glued_after_a_bar_is_not_part_of_it(tmp_path: Path) -> None:
    text = (
        bar(1, 4, ", loss=1.5")
        + bar(4, 4, ", loss=0.5")
        + "`Trainer.fit` stopped: `max_epochs=3` reached.\n"
    )
    assert shown(read(tmp_path, text)) == {"loss": ([1, 4], [1.5, 0.5])}


def keras(n: int, total: int, loss: str, more: str = "") -> str:
    drawing = "━" * (20 * n // total)
    return f"\r\x1b[1m{n}/{total}\x1b[0m \x1b[32m{drawing}\x1b[0m \x1b[1m0s\x1b[0m 4ms/step - loss: {loss}{more}"


def test_keras_repaints_a_mean_of_the_epoch(tmp_path: Path) -> None:
    text = "".join(
        f"Epoch {e}/3\n"
        + keras(1, 6, f"{e}.9")
        + "\x08" * 70
        + keras(6, 6, f"{e}.5", f" - val_loss: {e}.7")
        + "\n"
        for e in (1, 2, 3)
    )
    reading = read(tmp_path, text)
    assert {s.axis for s in reading.series} == {Axis.EPOCH}
    assert shown(reading) == {
        "loss": ([1, 2, 3], [1.5, 2.5, 3.5]),
        "val_loss": ([1, 2, 3], [1.7, 2.7, 3.7]),
    }


def test_an_epoch_of_keras_that_was_cut_short_is_told_as_far_as_it_went(tmp_path: Path) -> None:
    text = (
        "Epoch 1/3\n"
        + keras(6, 6, "1.5")
        + "\nEpoch 2/3\n"
        + keras(1, 6, "2.5")
        + keras(2, 6, "nan")
        + "\n"
    )
    steps, values = shown(read(tmp_path, text))["loss"]
    assert steps == [1, 2]
    assert math.isnan(values[1])


def test_keras_without_repaints(tmp_path: Path) -> None:
    text = "".join(
        f"Epoch {e}/2\n6/6 - 0s - 4ms/step - accuracy: 0.5 - loss: {e}.5\n" for e in (1, 2)
    )
    assert shown(read(tmp_path, text))["loss"] == ([1, 2], [1.5, 2.5])
