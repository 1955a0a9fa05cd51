"""Checkpoints behind an address: the openers see them as they see local ones."""

import pytest

from forensics.checkpoints import open_checkpoint
from forensics.errors import UnreadableFile
from forensics.remote import locate
from tests.checkpoints.saves import raw

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("torch")


@pytest.fixture
def upload():
    """Copies a file or folder into a file system in memory, and gives its address."""
    store = fsspec.filesystem("memory")

    def copy(path):
        files = [f for f in path.rglob("*") if f.is_file()] if path.is_dir() else [path]
        for file in files:
            store.pipe_file(f"/runs/{file.relative_to(path.parent)}", file.read_bytes())
        return locate(f"memory://runs/{path.name}")

    yield copy
    store.rm("/runs", recursive=True)


def test_nothing_at_the_address(upload, torch_files):
    upload(torch_files[0])
    with pytest.raises(UnreadableFile):
        open_checkpoint(locate("memory://runs/gone.pt"))


def assert_alike(address, path):
    """What is behind the address is what is at the path, value for value."""
    there, here = open_checkpoint(address), open_checkpoint(path)
    assert there.format == here.format
    assert [(t.name, t.role) for t in there.tensors] == [(t.name, t.role) for t in here.tensors]
    assert all(e.path.startswith("memory://") for t in there.tensors for e in t.extents)
    assert [raw(t) for t in there.tensors] == [raw(t) for t in here.tensors]
    assert there.state.optimizer_steps == here.state.optimizer_steps
    assert len(there.notes) == len(here.notes)


@pytest.mark.parametrize("which", [0, 1], ids=["zip", "stream"])
def test_files_of_torch(upload, torch_files, which):
    assert_alike(upload(torch_files[which]), torch_files[which])


def test_a_folder_of_the_trainer(upload, trained_by_transformers):
    folder = trained_by_transformers["llama"][0]
    assert_alike(upload(folder), folder)


def test_a_distributed_save(upload, distributed):
    assert_alike(upload(distributed[0] / "nested"), distributed[0] / "nested")


def test_deepspeed(upload, tmp_path):
    from tests.checkpoints import zero_writer

    zero_writer.write_zero2(tmp_path / "run")
    assert_alike(upload(tmp_path / "run"), tmp_path / "run")
