import json

import pytest

from forensics.errors import UnreadableFile
from forensics.readers.hf_trainer_state import READER
from forensics.run import Axis
from forensics.signals import Signal, classify
from tests.readers.tables import by_tag, points, probe, read, shared, takes

HISTORY = [
    {"epoch": 0.5, "grad_norm": 1.25, "learning_rate": 5e-05, "loss": 2.3031, "step": 10},
    {"epoch": 1.0, "eval_loss": 2.25, "eval_runtime": 3.1, "step": 10},
    {"epoch": 1.0, "eval_wiki_loss": 2.5, "step": 10},
    {"epoch": 1.0, "grad_norm": float("nan"), "learning_rate": 4e-05, "loss": 0.0, "step": 20},
    {"epoch": 1.5, "grad_norm": None, "learning_rate": 3e-05, "loss": 1.5, "step": 30, "kl": 0.1},
    {"epoch": 1.5, "grad_norm": 1.5, "learning_rate": 3e-05, "loss": 1.25, "step": 40},
    {"epoch": 2.0, "train_loss": 1.75, "train_runtime": 60.5, "step": 40},
]
STATE = {
    "best_metric": None,
    "global_step": 40,
    "log_history": HISTORY,
    "logging_steps": 10,
    "max_steps": 100,
    "num_train_epochs": 5,
    "train_batch_size": 4,
}


def state(**changes):
    return json.dumps(STATE | changes, indent=2, sort_keys=True)


@pytest.mark.parametrize("content", ["", "not json", "[1, 2]", "0"])
def test_other_content_is_declined(tmp_path, content):
    assert not takes(READER, tmp_path, "trainer_state.json", content)


def test_a_copy_under_another_name_is_taken(tmp_path):
    assert takes(READER, tmp_path, "state_before_crash.json", state())
    assert not takes(READER, tmp_path, "history.json", json.dumps({"log_history": HISTORY}))


def test_damage_from_the_first_byte_is_one_line(tmp_path):
    with pytest.raises(UnreadableFile, match=r"^trainer_state.json: "):
        read(READER, tmp_path, "trainer_state.json", "{\x00\x01 damaged")


@pytest.mark.parametrize("history", [None, [], {}, "text", [1, 2], [[]]])
def test_an_empty_history_is_said(tmp_path, history):
    reading = read(READER, tmp_path, "trainer_state.json", state(log_history=history))
    assert not reading.series
    assert "empty" in str(reading.notes[0])


def test_the_mean_of_the_run_is_no_loss_of_a_step(tmp_path):
    found = by_tag(read(READER, tmp_path, "trainer_state.json", state()))
    assert points(found["loss"]) == [(10, 2.3031), (20, 0.0), (30, 1.5), (40, 1.25)]
    assert "train_loss" not in found
    assert points(found["train_loss_epoch"]) == [(40, 1.75)]
    assert classify("train_loss_epoch") is Signal.TRAIN_LOSS_EPOCH


def test_null_is_not_logged_and_nan_is_a_value(tmp_path):
    found = by_tag(read(READER, tmp_path, "trainer_state.json", state()))
    assert points(found["grad_norm"]) == [(10, 1.25), (20, "nan"), (40, 1.5)]


def test_evaluation_and_other_columns(tmp_path):
    found = by_tag(read(READER, tmp_path, "checkpoint-40/trainer_state.json", state()))
    assert points(found["eval_loss"]) == [(10, 2.25)]
    assert points(found["eval_wiki_loss"]) == [(10, 2.5)]
    assert points(found["kl"]) == [(30, 0.1)]
    assert found["epoch"].step.tolist() == [10, 10, 10, 20, 30, 40, 40]
    assert found["loss"].source == "checkpoint-40/trainer_state.json"


def test_four_decimals_are_seen(tmp_path):
    found = by_tag(read(READER, tmp_path, "trainer_state.json", state()))
    assert found["loss"].digits == 4
    assert found["learning_rate"].digits is None
    exact = [row | {"loss": 2.3031234567} if "loss" in row else row for row in HISTORY]
    found = by_tag(read(READER, tmp_path, "trainer_state.json", state(log_history=exact)))
    assert found["loss"].digits is None


def test_settings(tmp_path):
    reading = read(READER, tmp_path, "trainer_state.json", state())
    assert reading.settings == {
        "logging_steps": 10,
        "max_steps": 100,
        "num_train_epochs": 5,
        "train_batch_size": 4,
    }


def test_epochs_count_only_where_there_is_no_step(tmp_path):
    rows = [{"epoch": float(e), "loss": 3.0 - e} for e in range(3)]
    found = by_tag(read(READER, tmp_path, "trainer_state.json", state(log_history=rows)))
    assert found["loss"].axis is Axis.EPOCH
    assert points(found["loss"]) == [(0, 3.0), (1, 2.0), (2, 1.0)]


def test_a_file_cut_at_any_byte(tmp_path):
    text = state()
    expected = [(10, 2.3031), (20, 0.0), (30, 1.5), (40, 1.25)]
    read_once = False
    for size in range(len(text)):
        file = probe(tmp_path, "trainer_state.json", text[:size])
        if not READER.sniff(file):
            continue
        try:
            found = by_tag(READER.read(file, lambda _: None))
        except UnreadableFile:
            assert not read_once
            continue
        if "loss" in found:
            read_once = True
            got = points(found["loss"])
            assert got == expected[: len(got)]
    assert read_once


def test_public_states(tmp_path):
    paths = sorted(shared("corpus").rglob("trainer_state.json"))
    assert paths
    for path in paths:
        history = json.loads(path.read_text())["log_history"]
        found = by_tag(read(READER, tmp_path, "trainer_state.json", path.read_bytes()))
        logged = [(row["step"], row["loss"]) for row in history if "loss" in row]
        assert points(found["loss"]) == logged
