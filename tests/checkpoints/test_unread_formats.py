import tarfile

import numpy as np
import pytest

from forensics.checkpoints import open_checkpoint
from forensics.checkpoints.unread_formats import sniff


@pytest.mark.parametrize("name", ["model.pt", "run.log", "weights.bin"])
def test_other_files_and_folders_are_not_claimed(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK\x03\x04 or anything else, long enough to look at" * 20)
    assert not sniff(tmp_path / name)
    assert not sniff(tmp_path)


def test_formats_whose_values_are_not_read_are_not_called_damaged(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(64))
    (tmp_path / "ckpt-5.index").write_bytes(bytes(64) + bytes.fromhex("57fb808b247547db"))
    np.save(tmp_path / "a.npy", np.ones(3))
    with tarfile.open(tmp_path / "m.nemo", "w") as archive:
        archive.add(tmp_path / "a.npy")
    (tmp_path / "orbax").mkdir()
    (tmp_path / "orbax" / "_CHECKPOINT_METADATA").write_text("{}")
    for name in ("m.gguf", "ckpt-5.index", "a.npy", "m.nemo", "orbax"):
        opened = open_checkpoint(tmp_path / name)
        assert opened.tensors == ()
        assert "whose values are not read" in str(opened.notes[0])
