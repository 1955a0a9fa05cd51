# ruff: noqa: E501 - the lines of logs are long
"""Lines that say less than the heading above them."""

from pathlib import Path

import pytest

from forensics.run import Axis, TextKind
from tests.readers.text_logs import read, shown


def test_a_heading_of_training_changes_nothing(tmp_path: Path) -> None:
    text = "***** Running training *****\nTraining:\n" + "".join(
        f"step {s}: loss 2.5\n" for s in (1, 2)
    )
    assert set(shown(read(tmp_path, text))) == {"loss"}


def test_a_sentence_about_tests_is_no_heading(tmp_path: Path) -> None:
    text = "loss: 2.5\nTesting is done every 5 epochs.\nloss: 2.4\ntest_size: large\nloss: 2.3\n"
    assert shown(read(tmp_path, text)) == {"loss": ([1, 2, 3], [2.5, 2.4, 2.3])}


@pytest.mark.parametrize(
    "heading",
    [
        "Test Error: ",
        "Validation:",
        "***** Evaluating reward *****",
        "--- eval results ---",
        "Evaluating...",
    ],
)
def test_below_a_heading_of_validation_a_loss_is_that_of_validation(
    tmp_path: Path, heading: str
) -> None:
    text = "".join(
        f"loss: {e}.5  [    0/60000]\nloss: {e}.4  [ 6400/60000]\n{heading}\n Accuracy: 4{e}.1%, Avg loss: {e}.3\n\n"
        for e in (1, 2)
    )
    found = shown(read(tmp_path, text))
    assert found["loss"][1] == [1.5, 1.4, 2.5, 2.4]
    assert found["val Avg loss"][1] == [1.3, 2.3]
    assert found["val Accuracy"][1] == [41.1, 42.1]


def test_headings_may_alternate(tmp_path: Path) -> None:
    text = "".join(f"Epoch {e}\nTrain:\nloss: {e}.5\nValid:\nloss: {e}.7\n" for e in (1, 2, 3))
    reading = read(tmp_path, text)
    assert shown(reading) == {
        "loss": ([1, 2, 3], [1.5, 2.5, 3.5]),
        "val loss": ([1, 2, 3], [1.7, 2.7, 3.7]),
    }
    assert {s.axis for s in reading.series} == {Axis.EPOCH}


def test_a_best_value_is_not_logged_again(tmp_path: Path) -> None:
    text = "step 1 loss 2.5\ncur metric, val_acc: 0.5\nbest metric, val_acc: 0.7, best_epoch: 2\n"
    assert shown(read(tmp_path, text))["val_acc"] == ([1], [0.5])


def test_a_list_of_settings_is_no_line_of_a_log(tmp_path: Path) -> None:
    text = "engine/trainer: task=detect, epochs=3, time=None, batch=16, lr0=0.01, amp=True\nstep 1 loss 2.5\n"
    reading = read(tmp_path, text)
    assert set(shown(reading)) == {"loss"}
    assert reading.settings["lr0"] == 0.01
    assert reading.settings["amp"] is True


def test_two_brackets_are_epoch_and_iteration(tmp_path: Path) -> None:
    text = "".join(
        f"[{e}/25][{i}/100]\tLoss_D: 1.5\tLoss_G: 2.5\n" for e in (0, 1) for i in (0, 50)
    )
    assert shown(read(tmp_path, text))["Loss_D"][0] == [0, 50, 100, 150]


def test_a_dump_that_never_ends_does_not_swallow_the_log(tmp_path: Path) -> None:
    text = "TrainingArguments(\nlr=0.1,\n" + "".join(f"step {s}: loss 2.5\n" for s in range(5))
    reading = read(tmp_path, text)
    assert shown(reading)["loss"][0] == list(range(5))
    assert reading.settings["lr"] == 0.1


def test_what_a_tracker_sums_up_is_not_logged(tmp_path: Path) -> None:
    text = "step 1 loss 2.5\nwandb: Run summary:\nwandb:      global_step 2\nwandb:       train/loss 2.4\n"
    assert set(shown(read(tmp_path, text))) == {"loss"}


def test_evidence_in_a_log_by_epochs_is_placed_by_epochs(tmp_path: Path) -> None:
    text = "Epoch 1, loss: 2.5\nEpoch 2, loss: 2.4\nLoss is nan, stopping training\n"
    assert [(e.kind, e.step) for e in read(tmp_path, text).text] == [(TextKind.NON_FINITE_ABORT, 2)]
