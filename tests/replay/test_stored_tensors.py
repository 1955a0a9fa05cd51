"""Stored tensors come back as they were saved, whatever the order of their bytes."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from forensics.checkpoints import open_checkpoint
from forensics.replay.errors import ReplayError
from forensics.replay.stored_state import read_state
from forensics.replay.stored_tensors import read_tensors


def test_the_file_is_not_changed_by_what_is_done_to_the_tensors(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"w": torch.ones(4)}, str(path))
    before = path.read_bytes()
    read_tensors(open_checkpoint(path).tensors)["w"].fill_(7.0)
    assert path.read_bytes() == before


def test_a_checkpoint_without_weights_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.pt"
    torch.save({"epoch": 3}, path)
    with pytest.raises(ReplayError, match=r"notes\.pt"):
        read_state(path)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int64])
def test_values_of_every_type(tmp_path: Path, dtype: torch.dtype) -> None:
    path = tmp_path / "model.safetensors"
    saved = {"a": torch.arange(12).reshape(3, 4).to(dtype), "b": torch.arange(3).to(dtype)}
    save_file(saved, str(path))
    found = read_tensors(open_checkpoint(path).tensors)
    assert all(torch.equal(found[name], tensor) for name, tensor in saved.items())


def test_transposed_and_expanded_views(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    saved = {"t": torch.arange(6.0).reshape(2, 3).t(), "e": torch.tensor([5.0]).expand(4)}
    torch.save(saved, path)
    found = read_tensors(open_checkpoint(path).tensors)
    assert torch.equal(found["t"], saved["t"])
    assert torch.equal(found["e"], saved["e"])
