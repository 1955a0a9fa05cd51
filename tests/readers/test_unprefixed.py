from pathlib import Path

import pytest

from forensics.readers._unprefixed import of_validation
from forensics.signals import Signal
from tests.readers.text_logs import read, shown


@pytest.mark.parametrize(
    "heads",
    [
        ["epoch", "loss", "val_loss", "accuracy", "val_accuracy"],  # Keras
        ["epoch", "loss", "val_loss", "accuracy"],
        ["epoch", "train_loss", "accuracy"],
        ["epoch", "train_loss", "val_loss", "train_acc", "val_acc", "lr", "time"],
        ["epoch", "train_loss", "valid_loss", "acc", "valid_acc"],
    ],
)
def test_a_metric_that_may_be_of_training_stays_as_it_is(heads: list[str]) -> None:
    assert of_validation(heads) == heads


@pytest.mark.parametrize("metric", ["accuracy", "error_rate", "f1_score", "dice"])
def test_beside_both_losses_it_is_of_validation(tmp_path: Path, metric: str) -> None:
    text = f"epoch     train_loss  valid_loss  {metric}  time    \n"
    text += "".join(
        f"{k}         0.{9 - k}00000    0.8{k}0000    0.{k}00000  00:01   \n" for k in range(4)
    )
    series = {s.tag: s.signal for s in read(tmp_path, text).series}
    expected = Signal.EVAL_ERROR if metric == "error_rate" else Signal.EVAL_ACCURACY
    assert series[f"valid_{metric}"] is expected


def test_rows_without_the_mark_of_a_save_are_read(tmp_path: Path) -> None:
    text = (
        "  epoch    train_loss    valid_acc    valid_loss    cp      lr     dur\n"
        "-------  ------------  -----------  ------------  ----  ------  ------\n"
        "      1        1.7829       0.7893        0.7332     +  0.2000  0.1069\n"
        "      2        0.5905       0.9071        0.9808        0.1978  0.1056\n"
        "      3        0.2834       0.9429        0.1991     +  0.1914  0.1331\n"
    )
    found = shown(read(tmp_path, text))
    assert found["valid_loss"] == ([1, 2, 3], [0.7332, 0.9808, 0.1991])
    assert found["lr"][1] == [0.2, 0.1978, 0.1914]
