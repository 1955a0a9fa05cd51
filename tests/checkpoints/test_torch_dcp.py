import io
import json
import pickle
import shutil

import pytest

from forensics.checkpoints import Role, open_checkpoint
from forensics.checkpoints._dcp import nested
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import assert_same_state, of_role, raw, torch_bytes, weights

torch = pytest.importorskip("torch")


@pytest.fixture(params=["nested", "flat"])
def saved(request, distributed):
    return distributed[0] / request.param


@pytest.fixture
def copy(saved, tmp_path):
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_folder_of_broken_shards_is_unreadable(tmp_path):
    (tmp_path / "__0_0.distcp").write_bytes(b"not a shard")
    with pytest.raises(UnreadableFile, match="no shard that can be read"):
        open_checkpoint(tmp_path)


def test_a_metadata_of_nonsense_is_not_believed(copy):
    (copy / ".metadata").write_bytes(pickle.dumps({"state_dict_metadata": 3}))
    opened = open_checkpoint(copy)
    assert "its .metadata is damaged" in str(opened.notes[0])


def test_the_names_are_the_models(saved, distributed):
    opened = open_checkpoint(saved)
    assert set(weights(opened)) == set(distributed[1])
    assert set(of_role(opened, Role.EXP_AVG)) == set(distributed[2]["state"])
    assert opened.notes == ()


def test_the_weights_of_both_ranks_make_whole_tensors(saved, distributed):
    opened = open_checkpoint(saved)
    assert_same_state(opened, distributed[1])
    assert len(weights(opened)["0.weight"].extents) == 2


def test_the_moments(saved, distributed):
    opened = open_checkpoint(saved)
    state = distributed[2]["state"]
    for role in (Role.EXP_AVG, Role.EXP_AVG_SQ):
        found = {name: raw(tensor) for name, tensor in of_role(opened, role).items()}
        assert found == {name: torch_bytes(slots[role]) for name, slots in state.items()}
    assert opened.state.optimizer_steps == dict.fromkeys(state, 1.0)


def test_the_state_of_training(saved):
    state = open_checkpoint(saved).state
    assert state.param_groups[0]["lr"] == 0.01
    assert len(state.param_groups) == 1
    assert state.global_step == (7 if saved.name == "nested" else None)


def test_roles_by_name(saved):
    found = weights(open_checkpoint(saved))
    assert {n for n, t in found.items() if t.role is Role.BUFFER} == {
        "2.running_mean", "2.running_var", "2.num_batches_tracked"}  # fmt: skip


def test_without_metadata_the_tensors_are_there_without_their_names(copy, distributed):
    (copy / ".metadata").unlink()
    opened = open_checkpoint(copy)
    assert "was not finished" in str(opened.notes[0])
    found = {raw(tensor) for tensor in opened.tensors}
    whole = torch_bytes(distributed[1]["0.weight"])
    assert whole[: len(whole) // 2] in found
    assert whole[len(whole) // 2 :] in found
    assert all(".distcp[" in tensor.name for tensor in opened.tensors)


def test_an_unfinished_metadata_is_used_all_the_same(copy, distributed):
    (copy / ".metadata").rename(copy / ".metadata.tmp")
    opened = open_checkpoint(copy)
    assert set(weights(opened)) == set(distributed[1])
    assert "was not finished" in str(opened.notes[0])


def test_a_missing_shard_leaves_the_other_ranks_part(copy):
    (copy / "__1_0.distcp").unlink()
    opened = open_checkpoint(copy)
    tensor = weights(opened)["0.weight"]
    assert tensor.missing == "__1_0.distcp is missing"
    assert len(tensor.extents) == 1
    assert any("1 shards are missing (__1_0.distcp)" in note.text for note in opened.notes)


def test_files_beside_the_shards_belong_to_the_save(copy):
    save = {
        "iteration": 55,
        "args": {"lr": 0.1},
        "opt_param_scheduler": {"num_steps": 3, "max_lr": 1},
    }
    torch.save(save, copy / "common.pt")
    (copy / "metadata.json").write_text(json.dumps({"sharded_backend": "torch_dist"}))
    opened = open_checkpoint(copy)
    assert opened.state.scheduler == {"num_steps": 3, "max_lr": 1}
    assert opened.state.settings == {"lr": 0.1}


def test_shards_that_lead_outside_are_not_opened(distributed, tmp_path):
    from torch.distributed.checkpoint.metadata import Metadata

    source = distributed[0] / "nested"
    inside = tmp_path / "a" / "save"
    shutil.copytree(source, inside)
    metadata: Metadata = pickle.loads((inside / ".metadata").read_bytes())
    for place in metadata.storage_data.values():
        place.relative_path = f"../{place.relative_path}"
    (inside / ".metadata").write_bytes(pickle.dumps(metadata))
    for shard in inside.glob("*.distcp"):
        shutil.copy(shard, inside.parent)
    opened = open_checkpoint(inside)
    assert not any(tensor.extents for tensor in opened.tensors)
    assert opened.notes


def test_chunks_that_are_raw_bytes(tmp_path):
    from torch.distributed.checkpoint.filesystem import _StorageInfo
    from torch.distributed.checkpoint.metadata import (
        ChunkStorageMetadata,
        Metadata,
        MetadataIndex,
        TensorProperties,
        TensorStorageMetadata,
    )

    values = torch.arange(12.0).reshape(4, 3)
    (tmp_path / "__0_0.distcp").write_bytes(b"head" + torch_bytes(values))
    chunks = [ChunkStorageMetadata(torch.Size([o, 0]), torch.Size([2, 3])) for o in (2, 0)]
    described = TensorStorageMetadata(TensorProperties(torch.float32), torch.Size([4, 3]), chunks)
    places = {
        MetadataIndex("w", chunk.offsets): _StorageInfo(
            "__0_0.distcp", 4 + chunk.offsets[0] * 12, 24
        )
        for chunk in chunks
    }
    buffer = io.BytesIO()
    pickle.dump(Metadata({"w": described}, None, places), buffer)
    (tmp_path / ".metadata").write_bytes(buffer.getvalue())
    assert raw(weights(open_checkpoint(tmp_path))["w"]) == torch_bytes(values)


def test_a_tensor_saved_only_in_part_says_so(tmp_path):
    from torch.distributed.checkpoint.filesystem import _StorageInfo
    from torch.distributed.checkpoint.metadata import (
        ChunkStorageMetadata,
        Metadata,
        MetadataIndex,
        TensorProperties,
        TensorStorageMetadata,
    )

    (tmp_path / "__0_0.distcp").write_bytes(bytes(24))
    chunk = ChunkStorageMetadata(torch.Size([0, 0]), torch.Size([2, 3]))
    described = TensorStorageMetadata(TensorProperties(torch.float32), torch.Size([4, 3]), [chunk])
    places = {MetadataIndex("w", chunk.offsets): _StorageInfo("__0_0.distcp", 0, 24)}
    (tmp_path / ".metadata").write_bytes(pickle.dumps(Metadata({"w": described}, None, places)))
    (tensor,) = open_checkpoint(tmp_path).tensors
    assert tensor.missing == "its chunks hold 6 of its 12 elements"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("optimizer.state.exp_avg.decoder.layers.linear.weight",
         ("optimizer", "state", "decoder.layers.linear.weight", "exp_avg")),
        ("chained_1.optimizer.state.fp32_param.embedding.weight",
         ("optimizer", "state", "embedding.weight", "fp32_param")),
        ("optim.state.net.0.weight.exp_avg_sq", ("optim", "state", "net.0.weight", "exp_avg_sq")),
        ("optim.param_groups.net.0.weight.lr", ("optim", "param_groups", "net.0.weight", "lr")),
        ("model.net.0.weight", ("model", "net.0.weight")),
        ("decoder.layers.weight", ("decoder.layers.weight",)),
    ],
)  # fmt: skip
def test_flat_names_without_a_path_are_read_as_frameworks_write_them(name, path):
    place = nested({name: 1}, {})
    for key in path:
        place = place[key]
    assert place == 1


def test_two_names_that_cannot_both_be_lose_neither_the_first_nor_the_rest():
    assert nested({"a": 1, "a.b": 2}, {"a.b": ("a", "b")}) == {"a": 1}
    assert nested({"x": 1}, {"x": ("p", 0, "x")}) == {"p": {0: {"x": 1}}}
