"""The log that W&B keeps on disk, sound and damaged."""

import math
import os
from pathlib import Path

import numpy as np
import pytest

import forensics
from forensics.errors import UnreadableFile
from forensics.readers import text_log
from forensics.readers._base import Probe, Reading, no_progress
from forensics.readers._settings import make_config
from forensics.readers.wandb_log import READER
from forensics.run import TextKind
from tests.readers.wandb_files import BLOCK, HEADER, ended, field, framed, row, settings

CONFIG = {"lr": 1e-3, "optimizer": "adamw", "_wandb": {"t": 1}}


def probe(folder: Path, data: bytes, name: str = "run-abc.wandb") -> Probe:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return Probe(path, folder, len(data))


def read(folder: Path, data: bytes) -> Reading:
    return READER.read(probe(folder, data), no_progress)


def points(reading: Reading, tag: str) -> tuple[list[int], list[float]]:
    (series,) = (s for s in reading.series if s.tag == tag)
    return series.step.tolist(), series.value.tolist()


def sample(rows: int = 6, fill: int = 0) -> list[bytes]:
    blown = [row({"loss": 3 - 0.25 * k, "note": "x" * fill}, k) for k in range(rows)]
    return [settings(CONFIG), *blown, ended(0)]


def test_other_files_and_its_own_debug_log_are_left_alone(tmp_path: Path) -> None:
    assert not READER.sniff(probe(tmp_path, b"step,loss\n1,2\n", "a.csv"))
    debug = "wandb/offline-run-20260101_101010-abc/logs/debug.log"
    text = b"config: {'lr': 0.001, 'seed': 1}\nstep: 1 loss: 2.0\nstep: 2 loss: 1.0\n"
    assert not text_log.READER.sniff(probe(tmp_path, text, debug))
    assert text_log.READER.sniff(probe(tmp_path, text, "logs/debug.log"))


def test_an_unknown_version_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="not the known W&B format; wandb sync"):
        read(tmp_path, b":W&B\xe1\xbe\x09" + bytes(100))


def test_pictures_texts_and_tables_are_no_numbers(tmp_path: Path) -> None:
    media = {
        "image": {"_type": "image-file", "size": 3},
        "text": "hello",
        "flag": True,
        "none": None,
    }
    reading = read(tmp_path, framed([row({"loss": 1.0, **media}, k) for k in range(3)]))
    assert {s.tag for s in reading.series} == {"loss"}


def test_every_cut_keeps_what_came_before_it(tmp_path: Path) -> None:
    whole = framed(sample())
    for end in range(len(HEADER), len(whole)):
        reading = read(tmp_path, whole[:end])
        values = [v for s in reading.series if s.tag == "loss" for v in s.value.tolist()]
        assert values == [3 - 0.25 * k for k in range(len(values))]
        assert TextKind.RUN_FINISHED not in {t.kind for t in reading.text}


def test_a_flipped_byte_costs_its_block_alone(tmp_path: Path) -> None:
    records = sample(rows=200, fill=1000)
    whole = framed(records)
    assert len(whole) > 5 * BLOCK
    at = 2 * BLOCK + 500
    reading = read(tmp_path, whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    steps, values = points(reading, "loss")
    assert values == [3 - 0.25 * k for k in steps]
    assert 150 < len(steps) < 199
    assert steps[-1] == 199
    assert any("damaged in" in str(note) for note in reading.notes)


@pytest.mark.parametrize(
    "record",
    [
        b"\xff" * 40,
        field(2, b"\x0a\xff\xff\xff\xff\x0f"),
        field(2, field(1, field(16, b"[" * 9999))),
    ],
)
def test_hostile_records_are_passed_over(tmp_path: Path, record: bytes) -> None:
    reading = read(tmp_path, framed([*sample(), record, row({"loss": 0.5}, 9)]))
    assert points(reading, "loss")[0] == [0, 1, 2, 3, 4, 5, 9]


def test_an_empty_run_is_said_to_be_empty(tmp_path: Path) -> None:
    assert "holds no rows" in str(read(tmp_path, HEADER).notes[0])


def test_rows_settings_and_the_end(tmp_path: Path) -> None:
    reading = read(tmp_path, framed(sample(rows=100, fill=900)))
    assert points(reading, "loss") == (list(range(100)), [3 - 0.25 * k for k in range(100)])
    assert make_config([("run.wandb", reading.settings)]).lr_peak == 1e-3
    assert not any(key.startswith("_wandb") for key in reading.settings)
    assert [t.kind for t in reading.text] == [TextKind.RUN_FINISHED]
    assert not read(tmp_path, framed([*sample()[:-1], ended(1)])).text
    assert not reading.notes


def test_steps_of_the_script_are_believed_before_calls_of_the_logger(tmp_path: Path) -> None:
    rows = [row({"train/loss": 2.0, "train/global_step": 10 * k + 10}, k) for k in range(5)]
    assert points(read(tmp_path, framed(rows)), "train/loss")[0] == [10, 20, 30, 40, 50]


def test_non_finite_and_nested_values(tmp_path: Path) -> None:
    values = [math.nan, math.inf, "NaN", -math.inf]
    rows = [row({("train", "loss"): v}, k) for k, v in enumerate(values)]
    _, found = points(read(tmp_path, framed(rows)), "train.loss")
    np.testing.assert_array_equal(found, [math.nan, math.inf, math.nan, -math.inf])


def test_what_wandb_itself_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    monkeypatch.setitem(os.environ, "WANDB_SILENT", "true")
    logged = [3 - 0.001 * k if k != 50 else math.nan for k in range(400)]
    run = wandb.init(mode="offline", project="p", dir=tmp_path, config={"lr": 1e-3})
    for k, loss in enumerate(logged):
        run.log({"train/loss": loss, "train/global_step": 10 * k + 10})
    run.finish()
    found = forensics.open_run(tmp_path)
    (series,) = (s for s in found.series if s.tag == "train/loss")
    np.testing.assert_array_equal(series.value, logged)
    assert series.step[-1] == 4000
    assert found.config.lr_peak == 1e-3
