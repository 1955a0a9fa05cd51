import json

import numpy as np
import pytest

from forensics.errors import UnreadableFile
from forensics.readers._tables.json_document import load_document
from forensics.readers.json_log import READER
from forensics.run import Axis
from tests.readers.tables import by_tag, points, probe, read, takes

ROWS = [{"step": 10, "loss": 2.5}, {"step": 20, "loss": float("nan")}, {"step": 30, "loss": None}]
EXPECTED = [(10, 2.5), (20, "nan")]


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        7,
        {"learning_rate": 0.1, "num_train_epochs": 3, "betas": [0.9, 0.999]},
        {"epoch": 3.0, "train_loss": 0.5, "eval_loss": 0.6},
        {"model": {"layers": [64, 64], "loss": "mse"}, "optimizer": {"lr": 0.1}},
        [{"text": "a", "label": 1}, {"text": "b", "label": 0}],
        {"weight_map": {"a": "model-1.safetensors"}, "metadata": {"total_size": 5}},
        {
            "version": 1,
            "added_tokens": [{"id": 0, "content": "<s>"}],
            "vocab": {"loss": 1, "step": 2},
        },
    ],
)
def test_what_holds_no_log_is_declined(tmp_path, value):
    assert not takes(READER, tmp_path, "a.json", json.dumps(value))


def test_a_document_nested_without_end_is_one_line(tmp_path):
    deep = "[" * 500 + '{"step": 1, "loss": 2}' + "]" * 500
    assert not takes(READER, tmp_path, "deep.json", deep)
    file = probe(tmp_path, "deeper.json", "[" * 100_000)
    assert not READER.sniff(file)
    with pytest.raises(UnreadableFile) as caught:
        READER.read(file, lambda _: None)
    assert str(caught.value).startswith("deeper.json: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        ROWS,
        {"log_history": ROWS},
        {"config": {"lr": 0.1}, "metrics": ROWS},
        {"state": {"log_history": ROWS}, "version": 3},
        {"step": [10, 20, 30], "loss": [2.5, float("nan"), None]},
        {"history": {"step": [10, 20, 30], "loss": [2.5, "NaN", None]}},
        {"10": {"loss": 2.5}, "20": {"loss": float("nan")}},
        {"step": {"0": 10, "1": 20}, "loss": {"0": 2.5, "1": float("nan")}},
        {"columns": ["step", "loss"], "index": [0, 1], "data": [[10, 2.5], [20, float("nan")]]},
        {"loss": [[10, 2.5], [20, float("nan")]]},
        {"loss": [{"step": 10, "value": 2.5}, {"step": 20, "value": float("nan")}]},
    ],
)
def test_every_shape_of_a_history(tmp_path, value):
    for text in (json.dumps(value), json.dumps(value, indent=2)):
        found = by_tag(read(READER, tmp_path, "history.json", text))
        assert points(found["loss"]) == EXPECTED


def test_lists_without_a_counter_are_counted_by_row(tmp_path):
    value = {"loss": [2.5, 2.25, 2.0], "val_loss": [2.6, float("nan"), 2.4]}
    reading = read(READER, tmp_path, "history.json", json.dumps(value))
    found = by_tag(reading)
    assert found["loss"].axis is Axis.ROW
    assert points(found["val_loss"]) == [(0, 2.6), (1, "nan"), (2, 2.4)]
    assert "counted by row" in str(reading.notes[0])


def test_lists_are_called_by_what_they_list(tmp_path):
    value = {"epochs": [1, 2, 3], "train_losses": [2.5, 2.25, 2.0], "val_loss_history": [3, 2, 1]}
    found = by_tag(read(READER, tmp_path, "a.json", json.dumps(value)))
    assert points(found["train_loss"]) == [(1, 2.5), (2, 2.25), (3, 2.0)]
    assert found["val_loss"].axis is Axis.EPOCH


def test_lists_of_other_lengths_are_series_of_their_own(tmp_path):
    value = {"step": [10, 20, 30, 40], "train_loss": [4.0, 3.0, 2.0, 1.0], "val_loss": [2.5, 2.0]}
    found = by_tag(read(READER, tmp_path, "a.json", json.dumps(value)))
    assert found["train_loss"].step.tolist() == [10, 20, 30, 40]
    assert found["val_loss"].step.tolist() == [0, 1]


@pytest.mark.parametrize("keys", [("train", "val"), ("train_history", "val_history")])
def test_phases_are_part_of_the_tag(tmp_path, keys):
    value = {keys[0]: {"loss": [2.5, 2.25]}, keys[1]: {"loss": [2.6, 2.5]}}
    found = by_tag(read(READER, tmp_path, "a.json", json.dumps(value)))
    assert points(found["train/loss"]) == [(0, 2.5), (1, 2.25)]
    assert points(found["val/loss"]) == [(0, 2.6), (1, 2.5)]
    rows = {keys[0]: [{"step": 1, "loss": 2.5}], keys[1]: [{"step": 1, "loss": 2.6}]}
    found = by_tag(read(READER, tmp_path, "b.json", json.dumps(rows)))
    assert points(found["val/loss"]) == [(1, 2.6)]


def test_several_experiments_are_several_runs(tmp_path):
    value = {"lr=0.1": {"loss": [2.5, 2.0]}, "lr=1.0": {"loss": [2.5, float("inf")]}}
    found = by_tag(read(READER, tmp_path, "sweep.json", json.dumps(value)))
    assert points(found["lr=1.0:loss"]) == [(0, 2.5), (1, "inf")]


def test_sections_of_other_quantities_are_one_run(tmp_path):
    value = {"losses": {"train_loss": [2.5, 2.0]}, "optim": {"lr": [0.1, 0.1], "grad_norm": [1, 2]}}
    found = by_tag(read(READER, tmp_path, "a.json", json.dumps(value)))
    assert points(found["lr"]) == [(0, 0.1), (1, 0.1)]


def test_a_download_from_tensorboard(tmp_path):
    text = json.dumps([[1700000000.5, 0, 2.5], [1700000009.5, 10, 2.25]])
    found = by_tag(read(READER, tmp_path, "run-a-tag-train_loss.json", text))
    assert points(found["train_loss"]) == [(0, 2.5), (10, 2.25)]
    assert found["train_loss"].wall_time.tolist() == [1700000000.5, 1700000009.5]


def test_settings_beside_the_rows(tmp_path):
    value = {"seed": 7, "config": {"lr": 0.1}, "metrics": ROWS}
    assert read(READER, tmp_path, "a.json", json.dumps(value)).settings == {"seed": 7, "lr": 0.1}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_cut_at_any_byte(tmp_path, indent):
    text = json.dumps({"note": 'a "b, c}', "log": ROWS, "end": {"x": [1, 2]}}, indent=indent)
    for size in range(len(text)):
        file = probe(tmp_path, "a.json", text[:size])
        if READER.sniff(file):
            reading = READER.read(file, lambda _: None)
            got = points(by_tag(reading)["loss"])
            assert got == EXPECTED[: len(got)]
            assert "cut" in str(reading.notes[-1])


def test_a_row_that_was_cut_is_no_row():
    assert load_document('{"log": [{"loss": 1, "step": 1}, {"loss": 2, ') == (
        {"log": [{"loss": 1, "step": 1}]},
        False,
    )


def test_documents_one_after_the_other(tmp_path):
    text = "".join(json.dumps(row, indent=2) + "\n" for row in ROWS)
    assert points(by_tag(read(READER, tmp_path, "a.json", text))["loss"]) == EXPECTED


def test_a_history_far_into_the_document(tmp_path):
    text = json.dumps({"notes": "x" * 100_000, "log": ROWS})
    assert points(by_tag(read(READER, tmp_path, "a.json", text))["loss"]) == EXPECTED


def test_utf_16(tmp_path):
    text = json.dumps({"log": ROWS}).encode("utf-16")
    assert points(by_tag(read(READER, tmp_path, "a.json", text))["loss"]) == EXPECTED


def test_integers_beyond_any_float(tmp_path):
    text = json.dumps(
        [{"step": 1, "loss": 10**400}, {"step": 2, "loss": 2.5}, {"step": 3, "loss": 1}]
    )
    found = by_tag(read(READER, tmp_path, "a.json", text))
    assert np.isfinite(found["loss"].value).all()
