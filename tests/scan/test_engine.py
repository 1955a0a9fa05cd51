"""The scan of a checkpoint as a whole: what is missing, shared, cut, changed or spread out."""

import math
import os
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

from forensics.checkpoints import DType, Extent, Role, StoredTensor, TrainingState
from forensics.scan import counting, engine, planning, reading, scan_checkpoint
from tests.scan import naive
from tests.scan.stored import opened, tensor_in

F32_NAN = b"\x00\x00\xc0\x7f"


def floats(*values):
    return np.array(values, "<f4").tobytes()


def weights(count, seed=0):
    return np.random.default_rng(seed).standard_normal(count).astype("<f4").tobytes()


def scan(*tensors, **more):
    return scan_checkpoint(opened(*tensors), **more)


def only(scanned):
    (stats,) = scanned.tensors
    return stats


def test_a_checkpoint_without_tensors_has_no_statistics():
    assert scan() == engine.CheckpointScan((), ())


def test_finite_weights_are_not_poisoned(tmp_path):
    scanned = scan(tensor_in(tmp_path / "a", weights(1000), DType.F32))
    stats = only(scanned)
    assert not stats.is_poisoned
    assert (stats.nan, stats.first_bad, stats.missing) == (0, None, "")
    assert scanned.notes == ()


def test_packed_elements_are_counted_and_not_read(tmp_path):
    tensor = StoredTensor(
        "w", Role.PARAM, DType.OTHER, (64,), (Extent(str(tmp_path / "gone"), 0, 32),)
    )
    scanned = scan(tensor)
    stats = only(scanned)
    assert (stats.size, stats.nbytes) == (64, 32)
    assert "packed" in stats.missing
    assert math.isnan(stats.rms)
    assert scanned.notes == ()


def test_an_empty_tensor_misses_nothing():
    stats = only(scan(StoredTensor("w", Role.PARAM, DType.F32, (0, 3))))
    assert (stats.size, stats.missing, stats.is_poisoned) == (0, "", False)


def test_bytes_that_are_not_there_are_said_to_be_missing():
    stats = only(scan(StoredTensor("w", Role.PARAM, DType.F32, (3,))))
    assert stats.missing == "its bytes are not there"
    told = StoredTensor("w", Role.PARAM, DType.F32, (3,), missing="rank 3 is missing")
    assert only(scan(told)).missing == "rank 3 is missing"


def test_a_scalar(tmp_path):
    tensor = StoredTensor("step", Role.OTHER, DType.F32, (), (extent(tmp_path / "s", floats(7)),))
    stats = only(scan(tensor))
    assert (stats.size, stats.abs_max, stats.mean) == (1, 7.0, 7.0)


def extent(path, data):
    path.write_bytes(data)
    return Extent(str(path), 0, len(data))


def test_fields_come_from_the_tensor_and_the_checkpoint(tmp_path):
    tensor = tensor_in(tmp_path / "a", floats(1, -3), DType.F32, name="fc.weight", rank=2)
    state = TrainingState(global_step=70)
    stats = only(scan_checkpoint(opened(tensor, state=state)))
    assert (stats.checkpoint, stats.step, stats.name) == ("somewhere", 70, "fc.weight")
    assert (stats.role, stats.dtype, stats.shape, stats.rank) == ("param", "F32", (2,), 2)
    assert (stats.nbytes, stats.abs_max, stats.mean) == (8, 3.0, -1.0)
    named = only(scan_checkpoint(opened(tensor, state=state), name="checkpoint-60", step=60))
    assert (named.checkpoint, named.step) == ("checkpoint-60", 60)


def test_tied_tensors_are_read_once(tmp_path):
    """The bytes that are asked for are those of one of them."""
    tensor = tensor_in(tmp_path / "a", floats(1, math.nan), DType.F32)
    seen = []
    scanned = scan(tensor, tensor, progress=seen.append)
    assert sum(seen) == 8
    assert [(t.nan, t.shared) for t in scanned.tensors] == [(1, False), (1, True)]


def test_a_view_within_another_tensor_is_shared(tmp_path):
    whole = tensor_in(tmp_path / "a", floats(1, 2, 3, 4), DType.F32)
    path = whole.extents[0].path
    inner = StoredTensor("v", Role.PARAM, DType.F32, (2,), (Extent(path, 4, 8),))
    beyond = StoredTensor("u", Role.PARAM, DType.F32, (2,), (Extent(path, 12, 8),))
    assert [t.shared for t in scan(whole, inner).tensors] == [False, True]
    assert [t.shared for t in scan(inner, whole).tensors] == [False, False]
    assert [t.shared for t in scan(inner, beyond).tensors] == [False, False]


def test_overlapping_tensors_do_not_make_the_scan_endless(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(weights(1000))
    tensors = [
        StoredTensor(f"t{i}", Role.PARAM, DType.F32, (900,), (Extent(str(path), 4 * i, 3600),))
        for i in range(100)
    ]
    read = []
    scanned = scan(*tensors, progress=read.append)
    assert sum(read) <= 16 * 4000
    assert "too many others" in scanned.tensors[-1].missing
    assert scanned.tensors[0].missing == ""


def test_a_tensor_of_many_extents_is_one(tmp_path):
    """Cut anywhere, even within an element, and spread over files."""
    data = weights(1000) + F32_NAN + weights(11, seed=1)
    extents, at = [], 0
    for place, length in enumerate((1, 4, 7, 1001, 2000, len(data) - 3013)):
        path = tmp_path / f"part{place}"
        path.write_bytes(b"xx" + data[at : at + length] + b"yyyy")
        extents.append(Extent(str(path), 2, length))
        at += length
    tensor = StoredTensor("w", Role.PARAM, DType.F32, (1012,), tuple(extents))
    stats, truth = only(scan(tensor)), naive.scan(data, DType.F32)
    assert (stats.nan, stats.first_bad) == (1, 1000)
    assert stats.rms == pytest.approx(truth["rms"], rel=1e-12)


@pytest.mark.parametrize("compiled", [False, True])
def test_parts_of_a_large_tensor_add_up(tmp_path, monkeypatch, compiled):
    """Cut into parts of a few hundred bytes, in threads that end in any order."""
    monkeypatch.setattr(planning, "SMALLEST_PART", 400)
    monkeypatch.setattr(planning, "LARGEST_PART", 400)
    monkeypatch.setattr(reading, "CHUNK", 64)
    monkeypatch.setattr(reading, "_of_thread", type("Thread", (), {})())
    data = weights(2000) + F32_NAN + weights(999, seed=2) + F32_NAN
    tensors = [tensor_in(tmp_path / name, data, DType.F32, name) for name in "ab"]
    with ThreadPoolExecutor(1) as executor:
        scanned = scan(*tensors, executor=executor, compiled=compiled)
    truth = naive.scan(data, DType.F32)
    for stats in scanned.tensors:
        assert (stats.nan, stats.zero) == (2, truth["zero"])
        assert stats.first_bad == 2000
        assert stats.abs_max == truth["largest"]
        assert stats.rms == pytest.approx(truth["rms"], rel=1e-12)
        assert stats.mean == pytest.approx(truth["mean"], rel=1e-9)


def test_threads_of_its_own_and_none_give_the_same(tmp_path, monkeypatch):
    tensors = [tensor_in(tmp_path / str(i), weights(50_000, i), DType.F32) for i in range(5)]
    here = scan(*tensors)
    monkeypatch.setattr(engine, "_INLINE", 0)
    assert scan(*tensors) == here


def test_progress_counts_every_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "_INLINE", 0)
    tensors = [tensor_in(tmp_path / str(i), weights(5000, i), DType.F32) for i in range(3)]
    seen = []
    scan(*tensors, progress=seen.append)
    assert sum(seen) == 60_000


def test_a_file_that_shrank_is_one_note(tmp_path):
    whole = tensor_in(tmp_path / "a", weights(1000), DType.F32, "first")
    path = whole.extents[0].path
    later = StoredTensor("later", Role.PARAM, DType.F32, (1000,), (Extent(path, 4000, 4000),))
    os.truncate(path, 3000)
    scanned = scan(whole, later)
    (note,) = scanned.notes
    assert note.source == path
    assert note.text == "shrank while it was read; 2 tensors are incomplete"
    first, second = scanned.tensors
    assert first.missing == second.missing == "shrank while it was read"
    assert first.rms == pytest.approx(naive.scan(weights(750), DType.F32)["rms"])
    assert math.isnan(second.rms)


def test_what_follows_a_gap_keeps_its_place(tmp_path, monkeypatch):
    """A part that cannot be read does not move the first bad element of a later part."""
    monkeypatch.setattr(planning, "SMALLEST_PART", 400)
    monkeypatch.setattr(planning, "LARGEST_PART", 400)
    gone = Extent(str(tmp_path / "gone"), 0, 400)
    rest = extent(tmp_path / "rest", weights(50) + F32_NAN)
    stats = only(scan(StoredTensor("w", Role.PARAM, DType.F32, (151,), (gone, rest))))
    assert (stats.nan, stats.first_bad) == (1, 150)
    assert stats.missing == "could not be read (No such file or directory)"


def test_a_file_that_changes_is_one_note(tmp_path, monkeypatch):
    tensor = tensor_in(tmp_path / "a", weights(100), DType.F32)
    count = counting.count_task

    def write_and_count(task, compiled):
        with open(tensor.extents[0].path, "ab") as file:
            file.write(b"more")
        return count(task, compiled)

    monkeypatch.setattr(engine, "count_task", write_and_count)
    (note,) = scan(tensor).notes
    assert note.text.startswith("changed while it was read")


def test_a_file_that_is_gone_or_a_folder_is_a_note(tmp_path):
    gone = StoredTensor("w", Role.PARAM, DType.F32, (1,), (Extent(str(tmp_path / "no"), 0, 4),))
    folder = StoredTensor("v", Role.PARAM, DType.F32, (1,), (Extent(str(tmp_path), 0, 4),))
    scanned = scan(gone, folder)
    assert len(scanned.notes) == 2
    assert all("could not be read" in t.missing for t in scanned.tensors)


def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    tensor = StoredTensor("w", Role.PARAM, DType.F32, (1,), (Extent(str(path), 0, 4),))
    assert "could not be read" in only(scan(tensor)).missing


def test_a_claim_of_far_more_bytes_than_there_are(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(floats(1, 2))
    tensor = StoredTensor("w", Role.PARAM, DType.F32, (1 << 50,), (Extent(str(path), 0, 1 << 30),))
    stats = only(scan(tensor))
    assert stats.abs_max == 2
    assert "shrank" in stats.missing


def test_a_decoder_gives_the_bytes(tmp_path):
    data = np.array([1, -2, np.nan], ">f4").tobytes()
    tensor = tensor_in(tmp_path / "a", data, DType.F32, decoder="swap:4")
    stats = only(scan(tensor))
    assert (stats.abs_max, stats.nan, stats.first_bad) == (2, 1, 2)


def test_an_unknown_decoder_is_a_note(tmp_path):
    tensor = tensor_in(tmp_path / "a", floats(1), DType.F32, decoder="zstd9")
    scanned = scan(tensor)
    assert len(scanned.notes) == 1
    assert "zstd9" in only(scanned).missing


class _Dying:
    """An executor whose workers die."""

    def submit(self, *_):
        future = Future()
        future.set_exception(OSError("killed"))
        return future


def test_a_worker_that_dies_costs_its_tensors_alone(tmp_path):
    tensor = tensor_in(tmp_path / "a", floats(1), DType.F32)
    scanned = scan(tensor, executor=_Dying())
    assert "its worker failed (OSError: killed)" in only(scanned).missing
    assert len(scanned.notes) == 1


def test_without_numba_numpy_does_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "forensics.scan.compiled_pass", None)
    counting.pass_of.cache_clear()
    try:
        stats = only(scan(tensor_in(tmp_path / "a", floats(1, 2), DType.F32), compiled=True))
    finally:
        counting.pass_of.cache_clear()
    assert stats.abs_max == 2
