"""Files that are made to hurt, and files that are simply not finished: one plain line each."""

import io
import json
import os
import pickle
import resource
import struct
import threading
import time
import zipfile
import zlib

import numpy as np
import pytest

from forensics.checkpoints import Role, decoded_chunks, open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import assert_plain, raw, weights

MEMORY = 150 << 20
"""Bytes by which a hostile file may raise the peak of this process."""


def refused(path, said="."):
    with pytest.raises(UnreadableFile, match=said) as caught:
        open_checkpoint(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.fixture(autouse=True)
def bounded():
    """Every file here is dealt with in bounded time and memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    yield
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) << 10 < MEMORY
    assert time.process_time() - start < 30


def torch_zip(path, root, data=(), method=zipfile.ZIP_STORED, name="archive/data/{}"):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(
            "archive/data.pkl", root if isinstance(root, bytes) else pickle.dumps(root, 2)
        )
        for key, value in enumerate(data):
            archive.writestr(name.format(key), value)
    return path


def tensor(shape, stride=None, key="0", numel=4, start=0):
    """Pickle program of a tensor as torch writes it; nothing in it need be possible."""

    def number(value):
        return b"\x8a" + bytes([len(raw := value.to_bytes(16, "little", signed=True))]) + raw

    def row(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    def text(value):
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    storage = (b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu")
               + number(numel) + b"tQ")  # fmt: skip
    stride = [1] * len(shape) if stride is None else stride
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(start) + row(shape)
            + row(stride) + b"\x89}tR")  # fmt: skip


def model_of(*tensors):
    named = b"".join(
        b"\x8c" + bytes([len(f"t{i}")]) + f"t{i}".encode() + t for i, t in enumerate(tensors)
    )
    return b"\x80\x02}(" + named + b"u."


@pytest.mark.parametrize("name", ["model.pt", "model.safetensors", "x.h5", "x.npz", "x"])
def test_empty_files_and_files_of_zeros(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    refused(tmp_path / name, "is empty")
    (tmp_path / name).write_bytes(bytes(5000))
    refused(tmp_path / name, "begins with zeros: it was never written")


def test_a_sparse_file_of_a_hundred_gigabytes(tmp_path):
    path = tmp_path / "model.safetensors"
    size = 100 << 30
    header = {"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + size)
    opened = open_checkpoint(path)
    assert opened.tensors[0].size == size // 4
    assert "nothing but zeros" in str(opened.notes[0])


def test_a_sparse_zip_of_a_hundred_gigabytes(tmp_path):
    path = torch_zip(tmp_path / "m.pt", model_of(tensor([2, 2], [2, 1])), [bytes(16)])
    os.truncate(path, 100 << 30)
    opened = open_checkpoint(path)
    assert raw(weights(opened)["t0"]) == bytes(16)
    assert opened.notes


def test_a_sparse_legacy_file(tmp_path):
    path = tmp_path / "m.pt"
    path.write_bytes(bytes.fromhex("80028a0a6cfc9c46f9206aa85019") + b".")
    os.truncate(path, 100 << 30)
    refused(path)


@pytest.mark.parametrize("shape", [[-1], [2**62], [2**31, 2**31], [1] * 1000, [2**100]])
def test_shapes_that_cannot_be(tmp_path, shape):
    good = tensor([2, 2], [2, 1])
    path = torch_zip(tmp_path / "m.pt", model_of(good, tensor(shape)), [bytes(16)])
    tensors = {t.name: t for t in open_checkpoint(path).tensors}
    assert raw(tensors["t0"]) == bytes(16)
    assert tensors["t1"].extents == ()
    assert tensors["t1"].missing


@pytest.mark.parametrize(
    ("stride", "start", "numel"),
    [([-1], 0, 4), ([2**40], 0, 4), ([1], -4, 4), ([1], 2**60, 4), ([1], 3, 4), ([1], 0, 2**59),
     ([1], 0, -1)],
)  # fmt: skip
def test_views_that_reach_outside_their_storage(tmp_path, stride, start, numel):
    root = model_of(tensor([3], stride, start=start, numel=numel))
    path = torch_zip(tmp_path / "m.pt", root, [bytes(16)])
    for found in open_checkpoint(path).tensors:
        assert sum(extent.nbytes for extent in found.extents) <= 16
        assert found.missing or numel > 4


def test_a_tensor_expanded_to_a_billion_elements_covers_its_bytes(tmp_path):
    path = torch_zip(tmp_path / "m.pt", model_of(tensor([10**9], [0], numel=1)), [bytes(4)])
    (found,) = open_checkpoint(path).tensors
    assert (found.size, len(raw(found))) == (10**9, 4)


def test_views_without_end_are_not_read_over_and_over(tmp_path):
    numel = 1 << 20
    views = [tensor([numel - 100], [1], numel=numel, start=i) for i in range(100)]
    path = torch_zip(tmp_path / "m.pt", model_of(*views), [bytes(4 * numel)])
    opened = open_checkpoint(path)
    read = sum(e.nbytes for t in opened.tensors for e in t.extents)
    assert 0 < read <= 64 << 20
    assert any("share bytes with many others" in note.text for note in opened.notes)


def test_tied_tensors_are_never_too_many(tmp_path):
    numel = 1 << 20
    ties = [tensor([numel], [1], numel=numel) for _ in range(200)]
    opened = open_checkpoint(torch_zip(tmp_path / "m.pt", model_of(*ties), [b"\1" * 4 * numel]))
    assert opened.notes == ()
    assert len({t.storage for t in opened.tensors}) == 1


def test_a_zip_bomb_in_the_pickle(tmp_path):
    path = tmp_path / "m.pt"
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"".join(deflate.compress(bytes(1 << 20)) for _ in range(256)) + deflate.flush()
    name = b"archive/data.pkl"
    header = struct.pack(
        "<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 0, 0, len(packed), 1000, len(name), 0
    )
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, 0, len(packed), 1000,
                        len(name), 0, 0, 0, 0, 0, 0)  # fmt: skip
    body = header + name + packed
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(entry) + len(name), len(body), 0)
    path.write_bytes(body + entry + name + end)
    refused(path)


def test_a_zip_bomb_in_a_tensor_is_spelled_out_no_further_than_its_shape(tmp_path):
    data = [bytes(50 << 20)]
    path = torch_zip(tmp_path / "m.pt", model_of(tensor([4], [1])), data, zipfile.ZIP_DEFLATED)
    assert sum(map(len, decoded_chunks(open_checkpoint(path).tensors[0]))) == 16


def test_a_directory_that_leads_nowhere(tmp_path):
    path = torch_zip(tmp_path / "m.pt", model_of(tensor([4], [1])), [bytes(16)])
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    data[at + 42 : at + 46] = b"\xff\xff\xff\x7f"
    path.write_bytes(bytes(data))
    opened = open_checkpoint(path)
    assert opened.tensors[0].missing == "its bytes are not in the file"
    assert "1 entries of its directory lead nowhere" in str(opened.notes[0])


def test_a_directory_that_claims_a_million_entries(tmp_path):
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, 0xFFFFFFF0, 0, 0)
    path = torch_zip(tmp_path / "m.pt", model_of(tensor([4], [1])), [bytes(16)])
    path.write_bytes(path.read_bytes()[:-22] + end)
    assert raw(open_checkpoint(path).tensors[0]) == bytes(16)


def test_names_that_lead_outside_are_only_names(tmp_path):
    path = torch_zip(tmp_path / "m.pt", model_of(tensor([4], [1], key="../../x")), [bytes(16)],
                     name="archive/data/../../x")  # fmt: skip
    opened = open_checkpoint(path)
    assert raw(opened.tensors[0]) == bytes(16)
    assert "lead outside; nothing is extracted" in str(opened.notes[0])
    assert [p.name for p in tmp_path.iterdir()] == ["m.pt"]


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "model.pt")
    refused(tmp_path / "model.pt")
    (tmp_path / "other.npz").write_bytes(b"")
    refused(tmp_path)


def test_loops_of_links(tmp_path):
    (tmp_path / "self").symlink_to(tmp_path / "self")
    refused(tmp_path / "self")
    inside = tmp_path / "run"
    inside.mkdir()
    (inside / "again").symlink_to(inside)
    np.savez(inside / "v.npz", a=np.ones(3))
    assert [t.name for t in open_checkpoint(inside).tensors] == ["a"]


def test_a_folder_that_may_not_be_read_or_is_not_there(tmp_path):
    refused(tmp_path / "gone", "no such file")


def test_a_file_that_grows_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "m.safetensors"
    header = json.dumps({"w": {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    from forensics.checkpoints import safetensors_ckpt

    parse = safetensors_ckpt._parsed

    def parse_while_it_grows(*arguments):
        with path.open("ab") as file:
            file.write(bytes(4))
        return parse(*arguments)

    monkeypatch.setattr(safetensors_ckpt, "_parsed", parse_while_it_grows)
    opened = open_checkpoint(path)
    assert any("still being written" in note.text for note in opened.notes)


def test_a_file_that_vanishes_between_listing_and_reading(tmp_path):
    np.savez(tmp_path / "v.npz", a=np.ones(3))
    (tensor,) = open_checkpoint(tmp_path / "v.npz").tensors
    (tmp_path / "v.npz").unlink()
    with pytest.raises(UnreadableFile, match="no such file"):
        list(decoded_chunks(tensor))


def test_random_bytes_behind_every_magic(tmp_path):
    rng = np.random.default_rng(0)
    legacy = bytes.fromhex("80028a0a6cfc9c46f9206aa85019") + b"."
    hdf5 = b"\x89HDF\r\n\x1a\n"
    magics = [b"PK\x03\x04", legacy, hdf5, struct.pack("<Q", 100) + b"{", b"\x93NUMPY"]
    for magic in magics:
        for _ in range(100):
            (tmp_path / "x.pt").write_bytes(magic + rng.bytes(300))
            try:
                open_checkpoint(tmp_path / "x.pt")
            except UnreadableFile as error:
                assert_plain(error)


@pytest.mark.parametrize("flips", [1, 20])
def test_flipped_bytes_anywhere(tmp_path, flips):
    rng = np.random.default_rng(flips)
    values = {"a": np.arange(30.0), "b": np.ones((4, 4), np.float32)}
    np.savez(tmp_path / "v.npz", **values)
    torch_zip(tmp_path / "m.pt", model_of(tensor([2, 2], [2, 1])), [bytes(16)])
    for path in (tmp_path / "v.npz", tmp_path / "m.pt"):
        data = path.read_bytes()
        for _ in range(200):
            damaged = bytearray(data)
            for at in rng.integers(0, len(data), flips):
                damaged[at] ^= 1 << rng.integers(8)
            path.write_bytes(bytes(damaged))
            try:
                for found in open_checkpoint(path).tensors:
                    assert sum(e.nbytes for e in found.extents) <= len(data)
            except UnreadableFile as error:
                assert_plain(error)


def test_a_deep_header_of_hdf5_and_trees_that_hold_themselves(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for number in range(20):
            file[f"g{number}/w"] = np.full(4, number, np.float32)
    data = (tmp_path / "a.h5").read_bytes()
    places = [
        at
        for at in range(0, len(data) - 8, 8)
        if 0 < int.from_bytes(data[at : at + 8], "little") < len(data)
    ]
    for at in places[:150]:
        looped = bytearray(data)
        looped[at : at + 8] = struct.pack("<Q", 96)
        (tmp_path / "a.h5").write_bytes(bytes(looped))
        try:
            open_checkpoint(tmp_path / "a.h5")
        except UnreadableFile as error:
            assert_plain(error)


def test_several_threads_open_the_same_file(tmp_path):
    np.savez(tmp_path / "v.npz", **{f"a{i}": np.full(9, i) for i in range(50)})
    found = []

    def count():
        found.append(len(open_checkpoint(tmp_path / "v.npz").tensors))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [50] * 4


def test_no_role_is_made_up_for_what_is_no_model(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, a=np.ones(3))
    (tmp_path / "v.npz").write_bytes(buffer.getvalue())
    assert {t.role for t in open_checkpoint(tmp_path / "v.npz").tensors} == {Role.PARAM}
