"""Checkpoints at an fsspec address, in the in-memory file system."""

import pytest

import forensics
from forensics.errors import NothingToAnalyse, UnreadableFile, UsageError
from forensics.remote import BLOCK, RemoteFile, is_remote, locate
from forensics.scan.paths import scan_path
from forensics.tree import grow
from tests.scan.stored import f32, write_safetensors

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def store(tmp_path):
    """Writes safetensors files into a memory file system that is empty before and after."""
    system = fsspec.filesystem("memory")

    def put(path, tensors):
        local = write_safetensors(tmp_path / "file", tensors)
        system.pipe(f"/{path}", local.read_bytes())

    yield put
    system.rm("/", recursive=True)


def test_local_paths_are_no_addresses(tmp_path):
    assert not is_remote(str(tmp_path))
    assert locate(tmp_path) is tmp_path
    assert locate("run").name == "run"


def test_nothing_there(store):
    store("run/model.safetensors", {"w": f32(1)})
    with pytest.raises(UnreadableFile, match="memory://nowhere"):
        scan_path("memory://nowhere")


def test_a_folder_without_checkpoints(store):
    fsspec.filesystem("memory").pipe("/logs/log.txt", b"step 1")
    with pytest.raises(NothingToAnalyse, match="holds no checkpoint"):
        scan_path("memory://logs")


def test_an_unknown_kind_of_address_is_one_line():
    with pytest.raises(UsageError, match="nosuch://"):
        scan_path("nosuch://bucket/run")


def test_a_file(store):
    store("run/model.safetensors", {"w": f32(1, float("nan")), "v": f32(3)})
    table = forensics.scan("memory://run/model.safetensors")
    assert dict(zip(table.name, table.nan, strict=True)) == {"w": 1, "v": 0}
    assert set(table.checkpoint) == {"memory://run/model.safetensors"}


def test_a_run_directory(store):
    store("run/checkpoint-10/model.safetensors", {"w": f32(1)})
    store("run/checkpoint-20/model.safetensors", {"w": f32(float("inf"))})
    scan = scan_path("memory://run")
    assert [(t.checkpoint, t.step, t.is_poisoned) for t in scan.tensors] == [
        ("checkpoint-10", 10, False),
        ("checkpoint-20", 20, True),
    ]


def test_the_tree_of_an_address(store):
    store("run/checkpoint-10/model.safetensors", {"w": f32(1)})
    store("run/.git/model.safetensors", {"w": f32(1)})
    tree = grow(locate("memory://run"))
    assert [f.path for f in tree.files] == ["checkpoint-10/model.safetensors"]
    assert tree.files[0].size > 0
    assert grow(locate("memory://run"), max_files=0).passed_over
    alone = grow(locate("memory://run/checkpoint-10/model.safetensors"))
    assert [f.path for f in alone.files] == ["model.safetensors"]


def test_ranges_across_blocks(store):
    data = bytes(range(256)) * (BLOCK // 256) + b"the end"
    fsspec.filesystem("memory").pipe("/big", data)
    file, buffer = RemoteFile("memory://big"), memoryview(bytearray(100))
    assert file.read_into(buffer, 5) == 100
    assert bytes(buffer) == data[5:105]
    assert file.read_into(buffer, BLOCK) == 5  # where the block at hand ends
    assert file.read_into(buffer, BLOCK + 5) == 2
    assert bytes(buffer[:2]) == data[-2:]
    assert file.read_into(buffer, len(data)) == 0
    file.close()
