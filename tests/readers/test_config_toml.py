"""Settings written as TOML."""

from pathlib import Path

import pytest

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, no_progress
from forensics.readers._settings import make_config
from forensics.readers.config_toml import READER

JOB = """
[job]
description = "debug run"

[optimizer]
name = "AdamW"
lr = 0.003
eps = 1e-08
weight_decay = 0.1

[lr_scheduler]
warmup_steps = 30
decay_type = "linear"

[training]
local_batch_size = 8
seq_len = 64
max_norm = 1.0
steps = 1_000
"""


def probe(folder: Path, name: str, text: str | bytes) -> Probe:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Probe(path, folder, path.stat().st_size)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.x]\nlr = 1\nseed = 2\nbatch_size = 3\n"),
        ("notes.toml", "[owner]\nname = 'a'\nseed = 1\n"),
        ("job.ini", JOB),
    ],
)
def test_what_is_no_configuration_of_a_run_is_left_alone(tmp_path, name, text):
    assert not READER.sniff(probe(tmp_path, name, text))


@pytest.mark.parametrize("text", [JOB + "[training\n", b"lr = \xff\xfe", "a = " + "[" * 100_000])
def test_what_is_broken_is_said_in_one_line(tmp_path, text):
    with pytest.raises(UnreadableFile, match=r"^job\.toml: not valid TOML \([^\n]+\)$"):
        READER.read(probe(tmp_path, "job.toml", text), no_progress)


def test_a_job_configuration_gives_its_settings(tmp_path):
    found = probe(tmp_path, "debug_moe.toml", JOB)
    assert READER.sniff(found)
    made = make_config([("debug_moe.toml", READER.read(found, no_progress).settings)])
    assert (made.optimizer, made.lr_peak, made.weight_decay) == ("adamw", 0.003, 0.1)
    assert (made.warmup_steps, made.total_steps, made.clip_threshold) == (30, 1000, 1.0)
    assert (made.micro_batch, made.seq_len, made.schedule) == (8, 64, "linear")
    assert made.framework == "torchtitan"
