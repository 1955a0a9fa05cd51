"""Every format, cut off at many places: never a traceback, and what was written whole is read."""

import random
import shutil

import pytest

from forensics.checkpoints import open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import assert_plain, raw

PLACES = 200


def places_in(size, count=PLACES):
    return random.Random(size).sample(range(size), min(count, size))


def whole_values(opened):
    """(name, role) -> (last byte that is needed, bytes)."""
    return {
        (t.name, t.role): (max((e.offset + e.nbytes for e in t.extents), default=0), raw(t))
        for t in opened.tensors
    }


def assert_cut_copies_are_read(path, folder, *, keeps_all=True):
    """Cut ``path`` at many places; opened is what survives of it.

    Args:
        path: A whole file.
        folder: Where to put the copies.
        keeps_all: True where, once the list of tensors is there, every tensor before the cut is.
    """
    expected = whole_values(open_checkpoint(path))
    data, copy = path.read_bytes(), folder / path.name
    survived = 0
    for place in places_in(len(data)):
        copy.write_bytes(data[:place])
        try:
            opened = open_checkpoint(copy)
        except UnreadableFile as error:
            assert_plain(error)
            continue
        assert opened.notes, place
        found = {(t.name, t.role): raw(t) for t in opened.tensors if not t.missing}
        for key, value in found.items():
            assert key not in expected or value == expected[key][1], (place, key)
        if keeps_all:
            before = {key for key, (end, _) in expected.items() if end <= place}
            assert before <= set(found), place
        survived += bool(found)
    assert survived > PLACES // 10


@pytest.mark.parametrize("which", [0, 1], ids=["zip", "stream"])
def test_files_of_torch(torch_files, tmp_path, which):
    assert_cut_copies_are_read(torch_files[which], tmp_path)


def test_a_checkpoint_of_lightning(trained_by_lightning, tmp_path):
    assert_cut_copies_are_read(trained_by_lightning[0], tmp_path)


def test_safetensors(trained_by_transformers, tmp_path):
    path = trained_by_transformers["llama"][0] / "model.safetensors"
    assert_cut_copies_are_read(path, tmp_path)


def test_an_optimizer_of_transformers(trained_by_transformers, tmp_path):
    path = trained_by_transformers["llama"][0] / "optimizer.pt"
    assert_cut_copies_are_read(path, tmp_path)


@pytest.mark.parametrize("index", [0, 1, 2], ids=["keras", "weights.h5", "h5"])
def test_files_of_keras(trained_by_keras, tmp_path, index):
    assert_cut_copies_are_read(trained_by_keras[1][index], tmp_path, keeps_all=False)


@pytest.mark.parametrize("save", ["savez", "savez_compressed"])
def test_archives_of_numpy(tmp_path, save):
    np = pytest.importorskip("numpy")
    values = {f"a{i}": np.random.default_rng(i).normal(size=50) for i in range(10)}
    (tmp_path / "whole").mkdir()
    getattr(np, save)(tmp_path / "whole" / "v.npz", **values)
    assert_cut_copies_are_read(tmp_path / "whole" / "v.npz", tmp_path)


@pytest.mark.parametrize("name", [".metadata", "__0_0.distcp", "__1_0.distcp"])
def test_a_file_of_a_distributed_save(distributed, tmp_path, name):
    source = distributed[0] / "nested"
    expected = whole_values(open_checkpoint(source))
    shutil.copytree(source, tmp_path, dirs_exist_ok=True)
    data = (source / name).read_bytes()
    for place in places_in(len(data), PLACES // 4):
        (tmp_path / name).write_bytes(data[:place])
        opened = open_checkpoint(tmp_path)
        assert opened.notes, place
        for tensor in opened.tensors:
            key = tensor.name, tensor.role
            if key in expected and not tensor.missing:
                assert raw(tensor) == expected[key][1], place


def test_a_shard_without_metadata(distributed, tmp_path):
    data = (distributed[0] / "nested" / "__1_0.distcp").read_bytes()
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "__1_0.distcp").write_bytes(data)
    expected = whole_values(open_checkpoint(tmp_path / "whole"))
    for place in places_in(len(data), PLACES // 4):
        (tmp_path / "__1_0.distcp").write_bytes(data[:place])
        try:
            opened = open_checkpoint(tmp_path)
        except UnreadableFile:
            found = {}
        else:
            found = {(t.name, t.role): raw(t) for t in opened.tensors if not t.missing}
        before = {key for key, (end, _) in expected.items() if end <= place}
        assert before <= set(found), place
        assert all(found[key] == expected[key][1] for key in before)


@pytest.mark.parametrize("stage", ["write_zero2", "write_zero3"])
@pytest.mark.parametrize("kind", ["optim_states", "model_states"])
def test_a_file_of_deepspeed(tmp_path, stage, kind):
    pytest.importorskip("torch")
    from tests.checkpoints import zero_writer

    getattr(zero_writer, stage)(tmp_path)
    expected = whole_values(open_checkpoint(tmp_path))
    path = sorted((tmp_path / zero_writer.TAG).glob(f"*{kind}.pt"))[0]
    data = path.read_bytes()
    for place in places_in(len(data), PLACES // 4):
        path.write_bytes(data[:place])
        opened = open_checkpoint(tmp_path)
        assert opened.notes, place
        for tensor in opened.tensors:
            key = tensor.name, tensor.role
            if key in expected and not tensor.missing:
                assert raw(tensor) == expected[key][1], place
