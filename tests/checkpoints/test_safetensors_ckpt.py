import json
import struct

import numpy as np
import pytest

from forensics.checkpoints import DType, Role, open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import array, assert_same_state, raw, torch_bytes, weights

numpy_io = pytest.importorskip("safetensors.numpy")


def file_of(header, body=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + body


def entry(dtype, shape, start, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def opened(tmp_path, header, body=b"", length=None):
    path = tmp_path / "model.safetensors"
    path.write_bytes(file_of(header, body, length))
    return open_checkpoint(path)


@pytest.mark.parametrize(
    "header",
    [
        {"w": entry("F32", [-1, 4], 0, 16)},
        {"w": entry("F32", [2**62, 4], 0, 16)},
        {"w": entry("F32", [1] * 1000, 0, 4)},
        {"w": entry("F32", "4", 0, 16)},
        {"w": entry("F32", [4], 16, 0)},
        {"w": entry("F32", [4], -16, 0)},
        {"w": entry("F32", [4], 0, 2**63)},
        {"w": entry("F32", [4], 0, 1e300)},
        {"w": entry("F32", [4], "0", "16")},
        {"w": entry("F32", [5], 0, 16)},
        {"w": [1, 2, 3]},
        {"w": None},
        {"w": {}},
    ],
)
def test_a_tensor_that_cannot_be_is_listed_without_bytes(tmp_path, header):
    result = opened(tmp_path, {"good": entry("F32", [2], 16, 24), **header}, bytes(24))
    good, bad = sorted(result.tensors, key=lambda t: t.name)
    assert raw(good) == bytes(8)
    assert bad.extents == ()
    assert bad.missing
    assert len(result.notes) == 1
    assert "cannot be as its header says" in str(result.notes[0])


@pytest.mark.parametrize(
    ("header", "length", "said"),
    [
        (b"{}", 2**60, "is no checkpoint"),
        (b"{" * 100, None, "is no JSON"),
        (b"{" + b'"a":{' * 50_000, None, "is no JSON"),
        (b"{" + b" " * 100, 99_000_000, "claims 99,000,000 bytes"),
        (b'{"a": 1}', 500, "cut off within its header"),
        (b"{nonsense}", None, "is no JSON"),
    ],
)
def test_a_header_that_cannot_be_is_one_plain_line(tmp_path, header, length, said):
    with pytest.raises(UnreadableFile, match=said) as caught:
        opened(tmp_path, header, b"", length)
    assert "\n" not in str(caught.value)


def test_overlapping_tensors_are_read_once(tmp_path):
    header = {
        "a": entry("U8", [8], 0, 8),
        "b": entry("U8", [8], 4, 12),
        "c": entry("U8", [4], 8, 12),
    }
    result = opened(tmp_path, header, bytes(range(12)))
    assert {t.name: t.missing for t in result.tensors} == {
        "a": "", "b": "overlaps another tensor", "c": ""}  # fmt: skip
    assert sum(e.nbytes for t in result.tensors for e in t.extents) <= 12


def test_an_unknown_or_packed_type_is_counted_not_read(tmp_path):
    header = {"f4": entry("F4", [6], 0, 3), "new": entry("F128", [2], 3, 35)}
    tensors = {t.name: t for t in opened(tmp_path, header, bytes(35)).tensors}
    assert tensors["f4"].dtype is tensors["new"].dtype is DType.OTHER
    assert (tensors["f4"].size, tensors["f4"].extents[0].nbytes) == (6, 3)
    assert not tensors["new"].missing


def test_a_file_of_zeros_in_its_body_is_noted(tmp_path):
    values = {"w": np.zeros((64, 64), np.float32)}
    numpy_io.save_file(values, tmp_path / "z.safetensors")
    (note,) = open_checkpoint(tmp_path / "z.safetensors").notes
    assert "nothing but zeros" in str(note)


def test_zeros_among_values_are_nothing_to_note(tmp_path):
    values = {"a": np.zeros((64, 64), np.float32), "b": np.ones((64, 64), np.float32)}
    numpy_io.save_file(values, tmp_path / "z.safetensors")
    assert open_checkpoint(tmp_path / "z.safetensors").notes == ()


def test_every_numpy_type_byte_for_byte(tmp_path):
    rng = np.random.default_rng(0)
    values = {t: (rng.normal(size=(3, 5)) * 9).astype(t) for t in
              ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")}  # fmt: skip
    numpy_io.save_file(values, tmp_path / "t.bin", {"format": "np"})
    result = open_checkpoint(tmp_path / "t.bin")
    assert result.state.settings == {"format": "np"}
    found = {t.name: raw(t) for t in result.tensors}
    assert found == {name: value.tobytes() for name, value in values.items()}


def test_a_module_saved_by_torch(net, tmp_path):
    torch_io = pytest.importorskip("safetensors.torch")
    torch_io.save_file(net[0].state_dict(), tmp_path / "m.safetensors")
    result = open_checkpoint(tmp_path / "m.safetensors")
    assert_same_state(result, net[0].state_dict())
    assert weights(result)["norm.running_mean"].role is Role.BUFFER


def test_the_low_precision_types_of_torch(tmp_path):
    torch = pytest.importorskip("torch")
    torch_io = pytest.importorskip("safetensors.torch")
    kinds = {"bfloat16": DType.BF16, "float8_e4m3fn": DType.F8_E4M3, "float8_e5m2": DType.F8_E5M2}
    values = {name: torch.randn(4, 4).to(getattr(torch, name)) for name in kinds}
    torch_io.save_file(values, tmp_path / "m.safetensors")
    found = weights(open_checkpoint(tmp_path / "m.safetensors"))
    assert {name: t.dtype for name, t in found.items()} == kinds
    assert all(raw(found[name]) == torch_bytes(value) for name, value in values.items())


def test_tensors_come_in_the_order_of_the_layers(tmp_path):
    names = ["lm_head.weight", "model.embed_tokens.weight", "model.layers.10.mlp.up_proj.weight",
             "model.layers.2.self_attn.q_proj.weight", "model.norm.weight"]  # fmt: skip
    numpy_io.save_file({n: np.ones(2, np.float32) for n in names}, tmp_path / "m.safetensors")
    order = [t.name for t in open_checkpoint(tmp_path / "m.safetensors").tensors]
    assert order == [names[1], names[3], names[2], names[4], names[0]]


@pytest.fixture
def sharded(tmp_path):
    values = {f"layers.{i}.weight": np.full((4, 4), float(i), np.float32) for i in range(4)}
    weight_map = {}
    for shard in (1, 2):
        own = dict(list(values.items())[2 * shard - 2 : 2 * shard])
        name = f"model-{shard:05d}-of-00002.safetensors"
        numpy_io.save_file(own, tmp_path / name)
        weight_map |= dict.fromkeys(own, name)
    index = {"metadata": {"total_size": 256}, "weight_map": weight_map}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    return tmp_path, values


@pytest.mark.parametrize(
    "path", ["", "model.safetensors.index.json", "model-00002-of-00002.safetensors"]
)
def test_shards_are_one_model_however_they_are_named(sharded, path):
    folder, values = sharded
    result = open_checkpoint(folder / path if path else folder)
    assert {t.name: raw(t) for t in result.tensors} == {k: v.tobytes() for k, v in values.items()}
    assert result.notes == ()


@pytest.mark.parametrize("path", ["", "model.safetensors.index.json"])
def test_a_missing_shard_is_noted_and_its_tensors_are_listed(sharded, path):
    folder, values = sharded
    (folder / "model-00002-of-00002.safetensors").unlink()
    result = open_checkpoint(folder / path if path else folder)
    assert {t.name for t in result.tensors if not t.missing} == set(list(values)[:2])
    assert {t.name for t in result.tensors} == set(values)
    assert [n.text for n in result.notes] == [
        "1 of its 2 shards are missing (model-00002-of-00002.safetensors)"]  # fmt: skip


def test_an_index_that_leads_outside_is_not_followed(tmp_path):
    inside = tmp_path / "run"
    inside.mkdir()
    numpy_io.save_file({"secret": np.ones(2, np.float32)}, tmp_path / "secret.safetensors")
    numpy_io.save_file({"w": np.ones(2, np.float32)}, inside / "a.safetensors")
    outside = ["../secret.safetensors", str(tmp_path / "secret.safetensors")]
    listed = {"w": "a.safetensors", "x": outside[0], "y": outside[1]}
    (inside / "model.safetensors.index.json").write_text(json.dumps({"weight_map": listed}))
    result = open_checkpoint(inside / "model.safetensors.index.json")
    assert {t.name: bool(t.extents) for t in result.tensors} == {"w": True, "x": False, "y": False}
    assert "leads outside" in str(result.notes[0])


def test_an_adapter_keeps_its_names(tmp_path):
    name = "base_model.model.layers.0.self_attn.q_proj.lora_A.weight"
    numpy_io.save_file({name: np.ones((2, 3), np.float32)}, tmp_path / "adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text("{}")
    result = open_checkpoint(tmp_path)
    assert list(array(weights(result)[name]).ravel()) == [1.0] * 6
