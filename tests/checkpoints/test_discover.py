import io
import json
import struct
import zipfile

import pytest

from forensics.checkpoints import discover
from forensics.tree import grow


def torch_zip(payload=b"x" * 40):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}.")
        archive.writestr("archive/data/0", payload)
    return buffer.getvalue()


def safetensors(size=8):
    header = json.dumps({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(header)) + header + b"\0" * size


def make(root, files):
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data.encode() if isinstance(data, str) else data)
    return discover(grow(root))


def found(root, files):
    return [(c.path, c.step, c.complete) for c in make(root, files).checkpoints]


def test_logs_data_and_states_alone_are_no_checkpoints(tmp_path):
    files = {
        "metrics.csv": "a,b",
        "train.bin": b"\x01\x02\x03\x04" * 10,
        "data/dataset.pt": torch_zip(),
        "notes.ckpt": "plain text",
        "model.bin": "plain text, whatever the suffix says",
        "optimizer.pt": torch_zip(),
        "checkpoint-100/trainer_state.json": '{"global_step": 100}',
        "step2_reward_model/train.log": "loss: 1",
    }
    assert found(tmp_path, files) == []


def test_a_folder_of_hugging_face_is_one_checkpoint(tmp_path):
    files = {
        "checkpoint-100/model.safetensors": safetensors(),
        "checkpoint-100/optimizer.pt": torch_zip(),
        "checkpoint-100/trainer_state.json": '{"global_step": 100}',
        "checkpoint-20/model.safetensors": safetensors(),
        "trainer_state.json": "{}",
    }
    result = make(tmp_path, files)
    assert [(c.path, c.step) for c in result.checkpoints] == [
        ("checkpoint-20", 20),
        ("checkpoint-100", 100),
    ]
    assert "checkpoint-100/trainer_state.json" not in result.members
    assert result.members["checkpoint-100/optimizer.pt"] == "checkpoint-100"
    sizes = sum(len(data) for path, data in files.items() if path.startswith("checkpoint-100"))
    assert result.checkpoints[1].size == sizes


def test_the_step_may_be_in_a_file_beside_the_weights(tmp_path):
    files = {
        "final/model.safetensors": safetensors(),
        "final/config.json": "{}",
        "final/trainer_state.json": '{"epoch": 1.0, "global_step": 77, "log_history": []}',
    }
    assert found(tmp_path, files) == [("final", 77, True)]


def test_the_root_may_be_a_checkpoint_itself(tmp_path):
    assert found(tmp_path, {"model.safetensors": safetensors()}) == [
        ("model.safetensors", None, True)
    ]
    assert found(tmp_path, {"optimizer.pt": torch_zip()}) == [(".", None, True)]


def test_shards_are_one_checkpoint_and_a_missing_one_is_seen(tmp_path):
    index = json.dumps({"weight_map": {"a": "model-00001-of-00002.safetensors",
                                       "b": "model-00002-of-00002.safetensors"}})  # fmt: skip
    whole = {
        "a/model-00001-of-00002.safetensors": safetensors(),
        "a/model-00002-of-00002.safetensors": safetensors(),
        "a/model.safetensors.index.json": index,
    }
    lacking = {
        "checkpoint-7/model-00001-of-00002.safetensors": safetensors(),
        "checkpoint-7/model.safetensors.index.json": index,
    }
    assert found(tmp_path, whole | lacking) == [("checkpoint-7", 7, False), ("a", None, True)]


@pytest.mark.parametrize(
    "files",
    [
        {"step-5/__0_0.distcp": torch_zip()},
        {"tmp-checkpoint-5/model.safetensors": safetensors()},
        {"checkpoint-5.tmp/model.safetensors": safetensors()},
        {"checkpoint-5/model.safetensors": b""},
        {"checkpoint-5/pytorch_model.bin": torch_zip()[:-30]},
        {"checkpoint-5/model.safetensors": safetensors()[:-3]},
        {"step5/model_and_optim/.metadata": "x", "step5/model_and_optim/__0_0.distcp": "x"},
        {"5.orbax-checkpoint-tmp-17/d/abc": "x"},
        {"5/_CHECKPOINT_METADATA": '{"commit_timestamp_nsecs": null}', "5/d/abc": "x"},
        {"global_step5/zero_pp_rank_0_mp_rank_00_optim_states.pt": torch_zip(),
         "global_step5/zero_pp_rank_2_mp_rank_00_optim_states.pt": torch_zip()},
        {"ckpt-5.data-00000-of-00002": "x", "ckpt-5.index": "x"},
        {"step_5.pt": torch_zip()[:-30]},
        {"step_5.safetensors": b""},
    ],
)  # fmt: skip
def test_a_save_that_was_not_finished_is_marked(tmp_path, files):
    ((_, step, complete),) = found(tmp_path, files)
    assert (step, complete) == (5, False)


@pytest.mark.parametrize(
    ("files", "path", "step"),
    [
        ({"out/ckpt.pt": torch_zip()}, "out/ckpt.pt", None),
        ({"ckpt_100.pt": torch_zip()}, "ckpt_100.pt", 100),
        ({"lightning_logs/version_0/checkpoints/epoch=1-step=9.ckpt": torch_zip()},
         "lightning_logs/version_0/checkpoints/epoch=1-step=9.ckpt", 9),
        ({"iter_0000005/mp_rank_00/model_optim_rng.pt": torch_zip()}, "iter_0000005", 5),
        ({"global_step5/mp_rank_00_model_states.pt": torch_zip()}, "global_step5", 5),
        ({"ckpt/step-5/.metadata": "x", "ckpt/step-5/__0_0.distcp": torch_zip()}, "ckpt/step-5", 5),
        ({"5/_METADATA": "{}", "5/d/abc": "x"}, "5", 5),
        ({"w.weights.h5": b"\x89HDF\r\n\x1a\n" + b"0" * 99}, "w.weights.h5", None),
        ({"model.keras": torch_zip()}, "model.keras", None),
        ({"ckpt-5.data-00000-of-00001": "x", "ckpt-5.index": "x"}, "ckpt-5.index", 5),
        ({"step_5.npz": torch_zip()}, "step_5.npz", 5),
        ({"checkpoint-5/global_step5/mp_rank_00_model_states.pt": torch_zip()}, "checkpoint-5", 5),
        ({"last.pth.tar": torch_zip()}, "last.pth.tar", None),
        ({"best.pt": bytes.fromhex("80028a0a6cfc9c46f9206aa85019")}, "best.pt", None),
    ],
)  # fmt: skip
def test_every_layout_is_one_checkpoint(tmp_path, files, path, step):
    assert found(tmp_path, files) == [(path, step, True)]


def test_an_epoch_is_no_step(tmp_path):
    (one,) = make(tmp_path, {"epoch_3.pth": torch_zip()}).checkpoints
    assert (one.step, one.epoch) == (None, 3)


def test_an_optimizer_of_the_same_step_belongs_to_its_model(tmp_path):
    files = {"model_000005.pt": torch_zip(), "optim_000005.pt": torch_zip(), "optim_000009.pt": b""}
    result = make(tmp_path, files)
    assert [c.path for c in result.checkpoints] == ["model_000005.pt"]
    assert result.members == {
        "model_000005.pt": "model_000005.pt",
        "optim_000005.pt": "model_000005.pt",
    }


def test_a_run_folder_with_a_number_is_no_checkpoint(tmp_path):
    files = {
        "epoch_10/checkpoint-1/model.safetensors": safetensors(),
        "epoch_10/checkpoint-2/model.safetensors": safetensors(),
    }
    assert [c[0] for c in found(tmp_path, files)] == [
        "epoch_10/checkpoint-1",
        "epoch_10/checkpoint-2",
    ]


def test_a_final_model_beside_its_checkpoints(tmp_path):
    files = {
        "out/model.safetensors": safetensors(),
        "out/config.json": "{}",
        "out/checkpoint-5/model.safetensors": safetensors(),
        "out/extra/last.ckpt": torch_zip(),
    }
    assert {c[0] for c in found(tmp_path, files)} == {
        "out",
        "out/checkpoint-5",
        "out/extra/last.ckpt",
    }


def test_copies_of_each_rank_are_kept_apart(tmp_path):
    files = {f"rank_{k}/checkpoint-5/model.safetensors": safetensors() for k in (0, 1)}
    assert [c[:2] for c in found(tmp_path, files)] == [
        ("rank_0/checkpoint-5", 5),
        ("rank_1/checkpoint-5", 5),
    ]


def test_captured_batches_are_batches(tmp_path):
    files = {"batches/step_12.pt": torch_zip(), "batches/step_2.safetensors": safetensors()}
    result = make(tmp_path, files)
    assert result.batches == ("batches/step_2.safetensors", "batches/step_12.pt")
    assert result.checkpoints == ()


def test_a_pointer_to_a_missing_checkpoint_is_noted(tmp_path):
    whole = {"a/latest": "global_step5", "a/global_step5/mp_rank_00_model_states.pt": torch_zip()}
    lost = {"b/latest_checkpointed_iteration.txt": "200\n"}
    (note,) = make(tmp_path, whole | lost).notes
    assert (
        str(note)
        == "b/latest_checkpointed_iteration.txt: points to iter_0000200, which is not there"
    )
