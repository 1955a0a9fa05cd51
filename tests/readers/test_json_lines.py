import json

import pytest

from forensics.readers.json_lines import READER
from forensics.run import Axis
from tests.readers.tables import by_tag, lines, points, probe, read, takes

ROWS = '{"step": 10, "loss": 2.5}\n{"loss": NaN, "step": 20}\n{"step": 30, "loss": -Infinity}\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.jsonl", ""),
        ("server.jsonl", lines(*[{"ts": 1.5, "level": "info", "msg": "step 10"}] * 9)),
        ("chat.jsonl", lines(*[{"messages": [{"role": "user", "content": "loss?"}]}] * 9)),
        ("data.jsonl", lines(*[{"text": "hello", "label": 1}] * 9)),
        ("config.json", json.dumps({"learning_rate": 0.1, "num_train_epochs": 3})),
        ("all_results.json", json.dumps({"epoch": 3.0, "train_loss": 0.5, "step": 9}, indent=1)),
        ("all_results.json", json.dumps({"epoch": 3.0, "train_loss": 0.5, "step": 9})),
        ("list.json", json.dumps([{"step": 1, "loss": 2.5}], indent=1)),
        ("deep.json", "[" * 500 + "]" * 500),
        ("deeper.jsonl", ('{"a":' * 9000 + "1" + "}" * 9000 + "\n") * 3),
        ("text.log", "loss 2.5\n"),
        ("broken.jsonl", "{nothing\n" * 20),
    ],
)
def test_what_is_no_log_of_a_training_is_declined(tmp_path, name, content):
    assert not takes(READER, tmp_path, name, content)


def test_null_is_not_logged_and_nan_is_a_value(tmp_path):
    text = ROWS + '{"step": 40, "loss": null, "lr": "NaN"}\n{"step": 50, "loss": "inf"}\n'
    found = by_tag(read(READER, tmp_path, "log.jsonl", text))
    assert points(found["loss"]) == [(10, 2.5), (20, "nan"), (30, "-inf"), (50, "inf")]
    assert points(found["lr"]) == [(40, "nan")]


@pytest.mark.parametrize(
    "content",
    [
        ROWS,
        ROWS.replace("\n", "\r\n"),
        ROWS.replace("\n", ",\n"),
        ROWS.replace("\n", "\n\n"),
        ROWS.rstrip("\n"),
        ROWS.encode("utf-8-sig"),
        ROWS.encode("utf-16"),
        b"\0\0" + ROWS.encode(),
        ROWS.replace("2.5", '"2.5"'),
        ROWS.replace("2.5", "[2.5]"),
    ],
)
def test_every_way_to_write_lines(tmp_path, content):
    found = by_tag(read(READER, tmp_path, "log.jsonl", content))
    assert points(found["loss"]) == [(10, 2.5), (20, "nan"), (30, "-inf")]


def test_damaged_lines_cost_only_themselves(tmp_path):
    text = ROWS.replace("\n", '\n{"step": 15, "lo\n', 1) + "Traceback (most recent call last)\n"
    reading = read(READER, tmp_path, "log.jsonl", text)
    assert len(by_tag(reading)["loss"].value) == 3
    assert [str(note) for note in reading.notes] == [
        "log.jsonl: damaged lines that were left out: 2"
    ]


def test_a_file_cut_at_any_byte(tmp_path):
    for size in range(ROWS.index("\n") + 1, len(ROWS)):
        found = by_tag(read(READER, tmp_path, "log.jsonl", ROWS[:size]))
        assert (
            points(found["loss"])
            == [(10, 2.5), (20, "nan"), (30, "-inf")][: len(found["loss"].value)]
        )


def test_rows_of_training_and_evaluation(tmp_path):
    text = lines(
        {"step": 10, "loss": 2.5},
        {"step": 10, "eval_loss": 2.6},
        {"eval_accuracy": 0.5},
        {"step": 20, "loss": 2.25, "new": 7},
    )
    found = by_tag(read(READER, tmp_path, "log.jsonl", text))
    assert points(found["eval_loss"]) == [(10, 2.6)]
    assert points(found["eval_accuracy"]) == [(10, 0.5)]
    assert points(found["new"]) == [(20, 7.0)]


def test_one_level_of_nesting_is_part_of_the_tag(tmp_path):
    text = lines(
        {"step": 1, "train": {"loss": 2.5, "lr": 0.1}, "val": {"loss": None}},
        {"step": 2, "train": {"loss": 2.25, "lr": 0.1}, "val": {"loss": 2.5}},
    )
    found = by_tag(read(READER, tmp_path, "log.jsonl", text))
    assert points(found["train/loss"]) == [(1, 2.5), (2, 2.25)]
    assert points(found["val/loss"]) == [(2, 2.5)]


def test_runs_in_one_file(tmp_path):
    text = lines(*({"run_name": f"r{i % 2}", "step": i // 2, "loss": float(i)} for i in range(6)))
    found = by_tag(read(READER, tmp_path, "log.jsonl", text))
    assert points(found["r0:loss"]) == [(0, 0.0), (1, 2.0), (2, 4.0)]
    assert points(found["r1:loss"]) == [(0, 1.0), (1, 3.0), (2, 5.0)]


def test_llama_factory(tmp_path):
    row = {"current_steps": 5, "total_steps": 40, "loss": 2.1981, "eval_loss": None, "epoch": 0.28}
    text = lines(row, row | {"current_steps": 10, "loss": None, "eval_loss": 1.5})
    reading = read(READER, tmp_path, "trainer_log.jsonl", text)
    found = by_tag(reading)
    assert points(found["loss"]) == [(5, 2.1981)]
    assert points(found["eval_loss"]) == [(10, 1.5)]
    assert reading.settings == {"max_steps": 40}


def test_ms_swift(tmp_path):
    text = lines(
        {"loss": 2.5, "global_step/max_steps": "1/12", "percentage": "8%", "elapsed_time": "3s"},
        {"loss": 2.25, "global_step/max_steps": "10/12", "percentage": "83%", "elapsed_time": "9s"},
    )
    reading = read(READER, tmp_path, "logging.jsonl", text)
    assert points(by_tag(reading)["loss"]) == [(1, 2.5), (10, 2.25)]
    assert reading.settings == {"max_steps": 12}


def test_fairseq_writes_text(tmp_path):
    text = lines(
        {"epoch": 1, "update": 0.2, "loss": "8.123", "num_updates": "100", "gnorm": "inf"},
        {"epoch": 1, "update": 0.4, "loss": "7.5", "num_updates": "200", "gnorm": "2.5"},
    )
    found = by_tag(read(READER, tmp_path, "fairseq.jsonl", text))
    assert points(found["loss"]) == [(100, 8.123), (200, 7.5)]
    assert points(found["gnorm"]) == [(100, "inf"), (200, 2.5)]


def test_mmengine_counts_validation_by_epoch(tmp_path):
    rows = []
    for epoch in (1, 2, 3):
        rows += [
            {"lr": 0.1, "loss": 2.5, "epoch": epoch, "step": 50 * (epoch - 1) + i} for i in (25, 50)
        ]
        rows.append({"coco/bbox_mAP": 0.25, "time": 0.1, "step": epoch})
    found = by_tag(read(READER, tmp_path, "scalars.json", lines(*rows)))
    assert found["loss"].step.tolist() == [25, 50, 75, 100, 125, 150]
    assert found["coco/bbox_mAP"].step.tolist() == [50, 100, 150]


def test_mmcv_counts_within_the_epoch(tmp_path):
    rows = [{"env_info": "torch 1.8", "seed": 7, "exp_name": "a.py"}]
    for epoch in (1, 2, 3):
        rows += [
            {"mode": "train", "epoch": epoch, "iter": i, "lr": 0.1, "loss": 2.5} for i in (50, 100)
        ]
        rows.append({"mode": "val", "epoch": epoch, "iter": 13, "lr": 0.1, "mAP": 0.25})
    reading = read(READER, tmp_path, "20240101.log.json", lines(*rows))
    found = by_tag(reading)
    assert found["loss"].step.tolist() == [50, 100, 150, 200, 250, 300]
    assert found["val/mAP"].step.tolist() == [100, 200, 300]
    assert reading.settings["seed"] == 7


def test_detectron2(tmp_path):
    text = lines(
        {"iteration": 19, "total_loss": 5.123, "lr": 0.1, "loss_cls": 1.5},
        {"iteration": 39, "total_loss": 4.5, "lr": 0.1, "loss_cls": 1.25},
        {"iteration": 39, "bbox/AP": 12.5},
    )
    found = by_tag(read(READER, tmp_path, "metrics.json", text))
    assert points(found["total_loss"]) == [(19, 5.123), (39, 4.5)]
    assert points(found["bbox/AP"]) == [(39, 12.5)]


def test_one_object_an_epoch(tmp_path):
    text = lines(*({"train_loss": 2.5, "test_acc1": 50.0, "epoch": e} for e in range(3)))
    found = by_tag(read(READER, tmp_path, "log.txt", text))
    assert found["train_loss"].axis is Axis.EPOCH
    assert found["test_acc1"].step.tolist() == [0, 1, 2]


def test_clearml(tmp_path):
    event = {"metric": "loss", "variant": "train", "type": "training_stats_scalar"}
    text = "".join(
        json.dumps([{"event": event | {"iter": i, "value": 2.5 - i / 4, "timestamp": 1.7e12 + i}}])
        + "\n"
        for i in range(3)
    )
    found = by_tag(read(READER, tmp_path, "metrics.jsonl", text))
    assert points(found["loss/train"]) == [(0, 2.5), (1, 2.25), (2, 2.0)]


def test_steps_that_go_back_stay_in_order(tmp_path):
    text = lines(*({"step": s, "loss": 2.5} for s in (10, 20, 30, 20, 30)))
    assert by_tag(read(READER, tmp_path, "a.jsonl", text))["loss"].step.tolist() == [
        10,
        20,
        30,
        20,
        30,
    ]


def test_a_large_file_is_read_as_a_small_one(tmp_path):
    rows = [
        {
            "step": i,
            "loss": float("nan") if i % 1000 == 0 else 2 + 1 / (i + 1),
            "eta": f"0:{i % 60}",
        }
        if i % 10
        else {"step": i, "eval_loss": i / 7, "train": {"lr": 1e-5 / (i + 1)}}
        for i in range(180_000)
    ]
    text = lines(*rows)
    assert len(text) > 8 << 20
    file = probe(tmp_path, "big.jsonl", text)
    assert READER.sniff(file)
    found = by_tag(READER.read(file, lambda _: None))
    assert set(found) == {"loss", "eval_loss", "train/lr"}
    assert found["loss"].value.tolist() == [r["loss"] for r in rows if "loss" in r]
    assert found["eval_loss"].step.tolist() == list(range(0, 180_000, 10))
    assert found["train/lr"].value.tolist() == [r["train"]["lr"] for r in rows if "train" in r]
