"""Whatever a file holds, it is declined, read in part, or refused in one line."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.errors import UnreadableFile
from forensics.readers import csv_log, hf_trainer_state, json_lines, json_log, lightning_csv
from forensics.readers._base import no_progress
from tests.readers.tables import probe

READERS = [m.READER for m in (csv_log, hf_trainer_state, json_lines, json_log, lightning_csv)]
ROWS = [{"step": i, "loss": 2.5, "mode": "train", "x": {"lr": None}} for i in range(3)]
SAMPLES = (
    b"step,loss,run_name\n0,2.5,a\n1,nan,b\n2,,a\n",
    b"| step | loss |\n|---|---|\n| 0 | 2.5 |\n",
    b"epoch\tsplit\tloss\n0\tval\t2.5\n1\ttrain\t2,5\n",
    b'step,tag,value\n0,"loss",2.5\n1,"a\nb",1\n',
    "\n".join(map(json.dumps, ROWS)).encode(),
    json.dumps({"log_history": ROWS, "max_steps": 3}).encode(),
    json.dumps({"loss": [2.5, None, "nan"], "val": {"loss": [[1, 2], [2, 3]]}}).encode(),
    "step,loss\n0,2.5\n1,2.25\n".encode("utf-16"),
)
NAMES = ("metrics.csv", "log.txt", "trainer_state.json", "log.jsonl", "metrics/loss")
SPLICES = (
    b"",
    b"\0",
    b'"',
    b"\n",
    b",",
    b"{",
    b"[" * 300,
    b"]",
    b"\xff\xfe",
    b"nan",
    b"9" * 400,
    b"e",
)


def readings(file):
    """What each reader that takes the file gives; a refusal as its message."""
    for reader in READERS:
        if reader.sniff(file):
            try:
                yield reader.read(file, no_progress)
            except UnreadableFile as error:
                yield str(error)


def survive(root, name, content):
    for reading in readings(probe(root, name, content)):
        if isinstance(reading, str):
            assert reading.startswith(f"{name}: ")
            assert "\n" not in reading
            continue
        for series in reading.series:
            assert series.tag
            assert len(series.step) == len(series.value) > 0
            assert series.step.dtype == "int64"
            assert series.value.dtype == "float64"
            assert series.wall_time is None or len(series.wall_time) == len(series.step)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(SAMPLES),
    st.sampled_from(NAMES),
    st.lists(
        st.tuples(st.integers(0, 80), st.integers(0, 9), st.sampled_from(SPLICES)), max_size=3
    ),
)
def test_damage_anywhere(tmp_path_factory, content, name, damage):
    for place, length, splice in damage:
        content = content[:place] + splice + content[place + length :]
    survive(tmp_path_factory.mktemp("run"), name, content)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(NAMES))
def test_noise(tmp_path_factory, content, name):
    survive(tmp_path_factory.mktemp("run"), name, content)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", NAMES)
def test_a_file_cut_at_any_byte(tmp_path, sample, name):
    for size in range(len(sample)):
        survive(tmp_path, name, sample[:size])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"step,loss\n" + b"1" * 3_000_000,
        b'{"a":' * 5000,
        b"step,loss\n" + b"\n" * 100_000,
        b"step,loss\n1e999,1e999\n-1e999,nan\nnan,inf\n1e300,1\n",
        b'{"step": 1e999, "loss": 1e999}\n{"step": -1e300, "loss": NaN}\n{"step": NaN}\n',
    ],
)
def test_hostile_files(tmp_path, name, content):
    survive(tmp_path, name, content)
