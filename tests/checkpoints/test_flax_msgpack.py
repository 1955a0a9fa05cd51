import struct

import numpy as np
import pytest

from forensics.checkpoints import DType, Role, discover, open_checkpoint
from forensics.errors import UnreadableFile
from forensics.tree import grow
from tests.checkpoints.saves import array


def packed(value):
    """A msgpack document as flax writes it."""
    if isinstance(value, dict):
        body = b"".join(packed(k) + packed(v) for k, v in value.items())
        return b"\xde" + struct.pack(">H", len(value)) + body
    if isinstance(value, (list, tuple)):
        return bytes([0x90 + len(value)]) + b"".join(map(packed, value))
    if isinstance(value, np.ndarray):
        inner = packed([list(value.shape), value.dtype.name, value.tobytes()])
        return b"\xc8" + struct.pack(">H", len(inner)) + b"\x01" + inner
    if isinstance(value, str):
        return bytes([0xA0 + len(value)]) + value.encode()
    if isinstance(value, bytes):
        return b"\xc5" + struct.pack(">H", len(value)) + value
    return struct.pack(">Bq", 0xD3, value)


def save(step=40):
    rng = np.random.default_rng(step)
    params = {"Dense_0": {"kernel": rng.normal(size=(3, 5)).astype("f4"), "bias": np.ones(5, "f4")}}
    moments = {"params": {"Dense_0": {k: v**2 for k, v in params["Dense_0"].items()}}}
    adam = {"count": np.array(step, "i4"), "mu": moments, "nu": moments}
    return {"step": step, "params": {"params": params}, "opt_state": {"0": {}, "1": {"0": adam}}}


@pytest.mark.parametrize(
    "data",
    [
        b"\x81\xa1a\x01",
        b"\x81\xa1a" + b"\x91" * 5000,
        packed({"params": {"w": [[3], "float32"]}}),
        b"\x82\xa1a\xc7\xff",
    ],
)
def test_other_documents_are_no_checkpoints(tmp_path, data):
    (tmp_path / "checkpoint_3").write_bytes(data)
    assert not discover(grow(tmp_path)).checkpoints
    with pytest.raises(UnreadableFile):
        open_checkpoint(tmp_path / "checkpoint_3")


@pytest.mark.parametrize("length", [40, 200, 400])
def test_what_is_there_of_one_that_is_cut_off_is_read(tmp_path, length):
    path = tmp_path / "checkpoint_40"
    path.write_bytes(packed(save())[:length])
    if length == 40:
        with pytest.raises(UnreadableFile):
            open_checkpoint(path)
        return
    opened = open_checkpoint(path)
    assert "cut off" in opened.notes[0].text
    assert {t.name for t in opened.tensors} >= {"Dense_0.kernel", "Dense_0.bias"}


def test_an_impossible_shape_is_listed_without_bytes(tmp_path):
    bad = bytearray(packed({"a": np.ones(3, "f4"), "b": np.ones(3, "f4")}))
    place = bad.index(b"\x91\xd3" + struct.pack(">q", 3))
    bad[place + 1 : place + 10] = struct.pack(">Bq", 0xD3, -3)
    (tmp_path / "x.msgpack").write_bytes(bytes(bad))
    tensors = {t.name: t for t in open_checkpoint(tmp_path / "x.msgpack").tensors}
    assert not tensors["a"].extents
    assert tensors["b"].extents


@pytest.mark.parametrize("name", ["checkpoint_40", "flax_model.msgpack", "gan_checkpoint_40"])
def test_weights_and_moments_by_name(tmp_path, name):
    (tmp_path / name).write_bytes(packed(save()))
    assert [c.path for c in discover(grow(tmp_path)).checkpoints] == [name]
    opened = open_checkpoint(tmp_path / name)
    assert not opened.notes
    held = {(t.name, t.role): t for t in opened.tensors}
    kernel = held["Dense_0.kernel", Role.PARAM]
    assert kernel.dtype is DType.F32
    assert np.array_equal(array(kernel), save()["params"]["params"]["Dense_0"]["kernel"])
    assert held["Dense_0.bias", Role.EXP_AVG_SQ].shape == (5,)
    assert opened.state.global_step == 40
    assert opened.state.optimizer_steps["Dense_0.kernel"] == 40


def test_numbered_files_without_an_ending_are_in_their_order(tmp_path):
    for step in (100, 50, 1000):
        (tmp_path / f"checkpoint_{step}").write_bytes(packed(save(step)))
    found = discover(grow(tmp_path)).checkpoints
    assert [c.step for c in found] == [50, 100, 1000]
    assert all(c.complete for c in found)
