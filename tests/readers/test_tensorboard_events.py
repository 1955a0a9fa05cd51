"""Event files as the real writers leave them, whole and damaged."""

import gzip
import json
import os

import numpy as np
import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, no_progress
from forensics.readers.tensorboard_events import READER
from forensics.run import Axis
from tests.readers.event_file.twin import VERSION, naive_points, naive_records, scalar

NAME = "events.out.tfevents.1700000000.host.1.0"


def probe(path, root=None):
    return Probe(path, root or path.parent, path.stat().st_size)


def written(tmp_path, data, name=NAME):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def read(path, root=None):
    return READER.read(probe(path, root), no_progress)


def by_tag(reading):
    return {series.tag: series for series in reading.series}


def event_files(folder):
    return sorted(path for path in folder.rglob("*tfevents*") if path.is_file())


def matches_twin(path):
    """Whether every series is what TensorBoard's own classes find."""
    expected = naive_points(naive_records(path.read_bytes()).payloads)
    found = by_tag(read(path))
    return found.keys() == expected.keys() and all(
        np.array_equal(
            np.stack((series.step, series.value, series.wall_time)),
            np.array(expected[tag]).T,
            equal_nan=True,
        )
        for tag, series in found.items()
    )


# What is not an event file


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("log.txt", b"step 1 loss 2.0\n"),
        ("tfevents_scalars.csv", b"step,value\n1,2\n"),
        ("events.json", b"{}"),
        ("model.bin", bytes(5000)),
        ("data.tfrecord", scalar("loss", 1, 1.0)),
        ("archive.gz", gzip.compress(b"step,loss\n1,2\n", mtime=0)),
        ("broken.gz", b"\x1f\x8b\x08\x00 not an archive"),
        (f"{NAME}.profile-empty", b""),
        ("empty", b""),
        ("short", VERSION[:11]),
    ],
)
def test_other_files_are_left_alone(tmp_path, name, data):
    assert not READER.sniff(probe(written(tmp_path, data, name)))


def test_noise_under_the_name_of_an_event_file_is_unreadable(tmp_path):
    path = written(tmp_path, np.random.default_rng(0).bytes(5000))
    assert READER.sniff(probe(path))
    with pytest.raises(UnreadableFile, match=rf"^{NAME}: no intact record in 5,000 bytes$"):
        read(path)


def test_a_file_that_may_not_be_read(tmp_path):
    path = written(tmp_path, VERSION)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("whoever runs this may read every file")
    with pytest.raises(UnreadableFile, match="Permission denied"):
        read(path)


def test_a_file_that_is_gone(tmp_path):
    path = written(tmp_path, VERSION)
    gone = probe(path)
    path.unlink()
    with pytest.raises(UnreadableFile, match=f"{NAME}: No such file"):
        READER.read(gone, no_progress)


# Files that hold little or nothing


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (b"", f"{NAME}: empty: nothing was ever written to it"),
        (VERSION, f"{NAME}: holds a file header, but no events"),
    ],
)
def test_files_of_a_run_that_never_logged(tmp_path, data, note):
    path = written(tmp_path, data)
    assert READER.sniff(probe(path))
    reading = read(path)
    assert not reading.series
    assert [str(one) for one in reading.notes] == [note]


def test_a_header_cut_short(tmp_path):
    path = written(tmp_path, VERSION + scalar("loss", 1, 1.0)[:7])
    (note,) = read(path).notes
    assert note.text == "the last record is cut short (7 bytes)"


# Damage


def test_damage_is_told_in_one_note_and_costs_nothing_else(tmp_path):
    events = [scalar("loss", step + 1, step / 7) for step in range(100)]  # of equal length
    size = len(events[0])
    data = bytearray(VERSION + b"".join(events))
    at = len(VERSION) + 10 * size
    data[at + 20] ^= 1  # a payload
    data[at + 30 * size + 2] ^= 1  # a header
    data[at + 50 * size : at + 55 * size] = bytes(5 * size)
    path = written(tmp_path, data[:-9])
    reading = read(path)
    (series,) = reading.series
    lost = {10, 40, *range(60, 65), 99}
    assert series.step.tolist() == [i + 1 for i in range(100) if i not in lost]
    first, second, third = (f"{at + n * size:,}" for n in (0, 30, 50))
    ends = (f"{at + n * size:,}" for n in (1, 31, 55))
    places = ", ".join(f"{a}-{b}" for a, b in zip((first, second, third), ends, strict=True))
    (note,) = reading.notes
    assert note.text == (
        f"damaged records skipped: bytes {places} ({7 * size:,} bytes in all); "
        f"the last record is cut short ({size - 9} bytes)"
    )


def test_many_damaged_places_are_counted(tmp_path):
    events = [scalar("loss", step, 1.0) for step in range(100)]
    data = b"".join(event[:-1] + b"!" if i % 10 == 5 else event for i, event in enumerate(events))
    (note,) = read(written(tmp_path, VERSION + data)).notes
    assert " and 7 more (" in note.text


def test_a_file_whose_head_is_destroyed_is_known_by_its_name(tmp_path):
    data = bytearray(VERSION + scalar("loss", 1, 1.0) + scalar("loss", 2, 1.0))
    data[: len(VERSION) + 3] = bytes(len(VERSION) + 3)
    path = written(tmp_path, data)
    assert READER.sniff(probe(path))
    assert read(path).series[0].step.tolist() == [2]


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_an_archive_cut_short_gives_what_precedes_the_cut(tmp_path, share):
    rng = np.random.default_rng(1)
    data = VERSION + b"".join(scalar("loss", i, rng.random()) for i in range(5000))
    packed = gzip.compress(data, mtime=0)
    path = written(tmp_path, packed[: int(share * len(packed))], f"{NAME}.gz")
    assert READER.sniff(probe(path))
    reading = read(path)
    assert len(reading.series[0].step) == pytest.approx(5000 * share, rel=0.2)
    assert "the archive is damaged or cut short" in " ".join(map(str, reading.notes))


def test_a_whole_archive_gives_all_without_a_note(tmp_path):
    data = VERSION + scalar("loss", 1, 1.0)
    reading = read(
        written(tmp_path, gzip.compress(data, mtime=0) + gzip.compress(data), f"{NAME}.gz")
    )
    assert reading.series[0].step.tolist() == [1, 1]
    assert not reading.notes


# The real writers


def test_tensorboards_own_writer(tmp_path):
    writer = EventFileWriter(str(tmp_path))
    for step in range(300):
        event = Event(step=step, wall_time=1.7e9 + step)
        event.summary.value.add(tag="loss", simple_value=1 / (step + 1))
        writer.add_event(event)
    writer.close()
    (path,) = event_files(tmp_path)
    assert READER.sniff(probe(path))
    assert matches_twin(path)
    assert not read(path).notes


@pytest.mark.parametrize("new_style", [False, True])
def test_torch(tmp_path, new_style):
    pytest.importorskip("torch", reason="torch is not installed")
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        for step in range(300):
            value = float("nan") if step == 200 else 1 / (step + 1)
            writer.add_scalar("train/loss", value, step, new_style=new_style)
            writer.add_scalar("lr", 1e-3, step, new_style=new_style, double_precision=True)
            if step % 100 == 0:
                writer.add_histogram("weights", np.arange(100.0) * step, step)
        writer.add_text("args", json.dumps({"learning_rate": 1e-3}))
    (path,) = event_files(tmp_path)
    assert READER.sniff(probe(path))
    assert matches_twin(path)
    reading = read(path)
    assert len(by_tag(reading)["train/loss"].step) == 300
    assert reading.settings == {"args": {"learning_rate": 1e-3}}
    assert not reading.notes


def test_torch_add_scalars_and_add_hparams_make_files_of_their_own(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalars("grp/x", {"a": 1.0, "b": 2.0}, 5)
        writer.add_hparams({"lr": 0.1, "opt": "adam"}, {"metric": 3.0})
    readings = {path: read(path, tmp_path) for path in event_files(tmp_path)}
    series = [one for reading in readings.values() for one in reading.series]
    assert sorted((one.tag, one.value[0]) for one in series) == [
        *(("grp/x", 1.0), ("grp/x", 2.0)),
        ("metric", 3.0),
    ]
    assert any(one.source.startswith("grp_x_b/") for one in series)
    assert [dict(one.settings) for one in readings.values() if one.settings] == [
        {"hparams": {"lr": 0.1, "opt": "adam"}}
    ]


def test_torch_purge_step_keeps_what_tensorboard_would_drop(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    from torch.utils.tensorboard import SummaryWriter

    for begin, purge in ((0, None), (5, 5)):
        with SummaryWriter(str(tmp_path), purge_step=purge, filename_suffix=f".{begin}") as writer:
            for step in range(begin, begin + 10):
                writer.add_scalar("loss", step, step)
    steps = [read(path).series[0].step.tolist() for path in event_files(tmp_path)]
    assert sorted(steps) == [list(range(10)), list(range(5, 15))]


def test_tensorboardx(tmp_path):
    writers = pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    with writers.SummaryWriter(str(tmp_path)) as writer:
        for step in range(200):
            writer.add_scalar("loss", step, step, display_name="Loss", summary_description="why")
    (path,) = event_files(tmp_path)
    assert READER.sniff(probe(path))
    assert matches_twin(path)


# What the step counts


@pytest.mark.parametrize(
    ("folder", "tag", "steps", "axis"),
    [
        ("run", "loss", [0, 1, 2], Axis.STEP),
        ("train", "batch_loss", [0, 1, 2], Axis.STEP),
        ("run", "epoch_loss", [0, 500, 1000], Axis.STEP),
        ("run", "epoch_loss", [0, 1, 2], Axis.EPOCH),
        ("validation", "epoch_loss", [0, 5, 10], Axis.EPOCH),
        ("train", "epoch_learning_rate", [3], Axis.EPOCH),
        ("run", "Train/Samples/train_loss", [256, 512], Axis.SAMPLES),
        ("run", "lm loss vs samples", [256, 512], Axis.SAMPLES),
        ("run", "lm-loss-training/lm loss vs tokens", [4096], Axis.SAMPLES),
    ],
)
def test_axis(tmp_path, folder, tag, steps, axis):
    data = VERSION + b"".join(scalar(tag, step, 1.0) for step in steps)
    path = written(tmp_path, data, f"{folder}/{NAME}")
    (series,) = read(path, tmp_path).series
    assert (series.axis, series.tag, series.source) == (axis, tag, f"{folder}/{NAME}")


def test_a_writer_without_a_clock_has_no_wall_time(tmp_path):
    path = written(tmp_path, VERSION + scalar("loss", 1, 1.0, wall_time=0.0))
    assert read(path).series[0].wall_time is None
