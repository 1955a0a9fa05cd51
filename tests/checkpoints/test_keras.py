import sys

import numpy as np
import pytest

from forensics.checkpoints import Role, _hdf5, open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import array, of_role, raw, weights

h5py = pytest.importorskip("h5py")


@pytest.fixture
def without_h5py(monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


def test_keras_own_files_need_no_h5py(trained_by_keras, without_h5py):
    for path in trained_by_keras[1]:
        opened = open_checkpoint(path)
        assert opened.notes == ()
        assert all(np.isfinite(array(t)).all() for t in opened.tensors)


def test_compressed_arrays_without_h5py_say_what_to_install(tmp_path, without_h5py, packed):
    opened = open_checkpoint(packed)
    missing = {t.name: t.missing for t in opened.tensors}
    assert missing == {**dict.fromkeys(("plain", "swapped"), ""),
                       **dict.fromkeys(("empty", "packed"), _hdf5.NEEDS_H5PY)}  # fmt: skip
    assert [note.text for note in opened.notes] == [f"in parts {_hdf5.NEEDS_H5PY}"]


def test_hdf5_of_nonsense_is_one_plain_line(tmp_path):
    (tmp_path / "x.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\xff" * 500)
    with pytest.raises(UnreadableFile, match="damaged HDF5 file") as caught:
        open_checkpoint(tmp_path / "x.h5")
    assert "\n" not in str(caught.value)


def test_links_to_other_files_are_not_followed(tmp_path):
    with h5py.File(tmp_path / "secret.h5", "w") as secret:
        secret["w"] = np.ones(3, np.float32)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["own"] = np.zeros(2, np.float32)
        file["outside"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/w")
        file["loop"] = h5py.SoftLink("/")
    assert [t.name for t in open_checkpoint(tmp_path / "a.h5").tensors] == ["own"]


VALUES = np.arange(600, dtype=np.float32).reshape(30, 20)


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    path = tmp_path_factory.mktemp("hdf5") / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("plain", data=VALUES)
        file.create_dataset("packed", data=VALUES, chunks=(7, 9), compression="gzip")
        file.create_dataset("swapped", data=VALUES.astype(">f4"))
        file.create_dataset("empty", shape=(0, 3), dtype="f4")
    return path


def test_arrays_in_chunks_are_read_by_a_decoder(packed):
    found = weights(open_checkpoint(packed))
    assert (found["plain"].decoder, found["packed"].decoder) == ("", "hdf5:packed")
    assert all(np.array_equal(array(found[n]), VALUES) for n in ("plain", "packed", "swapped"))
    assert found["empty"].size == 0


@pytest.mark.parametrize("version", ["earliest", "v108", "latest"])
def test_every_layout_that_h5py_can_write(tmp_path, version):
    path = tmp_path / "v.h5"
    kinds = ("f8", "f4", "f2", "i8", "i2", "u1", "?")
    with h5py.File(path, "w", libver=version, track_order=version != "earliest") as file:
        for number in range(30):
            group = file.create_group(f"layers/layer_{number}/vars")
            group.attrs["name"] = f"own_{number}"
            for index, kind in enumerate(kinds):
                group[str(index)] = np.full((2, 3), index % 2).astype(kind)
    opened = open_checkpoint(path)
    assert len(opened.tensors) == 30 * len(kinds)
    assert {t.name for t in opened.tensors} == {
        f"own_{n}/{i}" for n in range(30) for i in range(len(kinds))}  # fmt: skip
    for tensor in opened.tensors:
        index = int(tensor.name.partition("/")[2])
        assert raw(tensor) == np.full((2, 3), index % 2).astype(kinds[index]).tobytes()


@pytest.fixture(params=[0, 1, 2], ids=["keras", "weights.h5", "h5"])
def trained(request, trained_by_keras):
    model, files = trained_by_keras
    return model, open_checkpoint(files[request.param])


def test_the_weights_by_name(trained):
    model, opened = trained
    found = {tuple(n.split("/")[-2:]): array(t) for n, t in weights(opened).items()}
    expected = {tuple(v.path.split("/")[-2:]): np.asarray(v.numpy()) for v in model.weights}
    assert set(found) == set(expected)
    assert all(np.array_equal(found[name], value) for name, value in expected.items())


def test_running_statistics_are_buffers(trained):
    names = {name.rpartition("/")[2] for name in of_role(trained[1], Role.BUFFER)}
    assert names == {"moving_mean", "moving_variance"}


def test_the_moments_have_the_variables_names(trained):
    model, opened = trained
    state = {v.path.partition("/")[2]: np.asarray(v.numpy()) for v in model.optimizer.variables}
    for role, slot in ((Role.EXP_AVG, "momentum"), (Role.EXP_AVG_SQ, "velocity")):
        found = of_role(opened, role)
        assert len(found) == len(model.trainable_variables)
        for name, tensor in found.items():
            path = "_".join(["sequential", *name.split("/")[-2:], slot])
            (expected,) = [v for p, v in state.items() if p.endswith(path.partition("_")[2])]
            assert np.array_equal(array(tensor), expected)


def test_the_state_of_training(trained):
    state = trained[1].state
    assert state.global_step == 2
    assert set(state.optimizer_steps.values()) == {2.0}
    assert state.param_groups[0]["lr"] == pytest.approx(0.002)


def test_the_configuration_gives_the_optimizers_settings(trained_by_keras):
    for index in (0, 2):
        (group,) = open_checkpoint(trained_by_keras[1][index]).state.param_groups
        assert group["betas"] == [0.9, 0.98]
        assert group["eps"] == 1e-7
