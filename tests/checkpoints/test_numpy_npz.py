import zipfile

import numpy as np
import pytest

from forensics.checkpoints import DType, open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import array, raw


def npz(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return open_checkpoint(path)


def header(text, version=1):
    encoded = text.encode().ljust(118)
    return b"\x93NUMPY" + bytes([version, 0]) + len(encoded).to_bytes(2, "little") + encoded


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no array",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }"),
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999999999999,), }"),
        header("{'descr': __import__('os').system('false'), 'shape': (3,), }"),
        header("{'descr': '<f4'}"),
        header("{"),
    ],
)
def test_an_array_that_cannot_be_is_listed_without_bytes(tmp_path, data):
    good = header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }") + bytes(8)
    tensors = {t.name: t for t in npz(tmp_path / "x.npz", a=good, b=data).tensors}
    assert raw(tensors["a"]) == bytes(8)
    assert not tensors["b"].extents or tensors["b"].dtype is DType.OTHER


def test_objects_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "o.npz", a=np.ones(2), o=np.array([{"x": 1}], dtype=object))
    tensors = {t.name: t for t in open_checkpoint(tmp_path / "o.npz").tensors}
    assert tensors["o"].dtype is DType.OTHER


def test_an_empty_zip_is_unreadable(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"PK\x05\x06" + bytes(18))
    with pytest.raises(UnreadableFile, match="is no checkpoint"):
        open_checkpoint(tmp_path / "x.npz")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_every_array_as_numpy_loads_it(tmp_path, save):
    rng = np.random.default_rng(0)
    values = {t: (rng.normal(size=(4, 50)) * 9).astype(t) for t in ("f8", "f4", "f2", "i8", "u1")}
    values |= {"swapped": rng.normal(size=9).astype(">f8").view(">f8"), "scalar": np.float32(3)}
    save(tmp_path / "v.npz", **values)
    found = {t.name: t for t in open_checkpoint(tmp_path / "v.npz").tensors}
    with np.load(tmp_path / "v.npz") as loaded:
        assert set(found) == set(loaded)
        for name in loaded:
            expected = loaded[name].astype(loaded[name].dtype.newbyteorder("<"))
            assert raw(found[name]) == expected.tobytes(), name


def test_a_file_without_its_end_keeps_the_arrays_before_the_cut(tmp_path):
    np.savez(tmp_path / "v.npz", a=np.arange(100.0), b=np.arange(100.0))
    data = (tmp_path / "v.npz").read_bytes()
    (tmp_path / "v.npz").write_bytes(data[:1500])
    opened = open_checkpoint(tmp_path / "v.npz")
    first, second = opened.tensors
    assert list(array(first)) == list(range(100))
    assert second.missing.startswith("cut off")
    assert "is cut off" in str(opened.notes[0])
