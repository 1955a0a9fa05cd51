"""The same scan on the workers of a Dask cluster."""

from pathlib import Path

import pytest

import forensics
from forensics.checkpoints import DType
from forensics.cli import main
from forensics.errors import UsageError
from forensics.scan import cluster, scan_checkpoint
from forensics.scan.cluster import dask_executor
from forensics.scan.paths import scan_path
from tests.scan.stored import f32, opened, tensor_in, write_safetensors

RUN = Path(__file__).parents[2] / "sample_runs" / "hf_nan_behind_filter"
distributed = pytest.importorskip("distributed")
# A cluster in the test's own process closes its sockets when it is collected.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module", params=["threads", "processes"])
def scheduler(request):
    """Address of a local cluster of two workers."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=request.param == "processes",
        dashboard_address=None,
    ) as local:
        yield local.scheduler_address


def test_no_scheduler_is_one_line(monkeypatch):
    monkeypatch.setattr(cluster, "ANSWER_WITHIN", 1)
    with pytest.raises(UsageError, match="no Dask scheduler"), dask_executor("tcp://127.0.0.1:9"):
        pass


def test_the_same_as_here(scheduler, tmp_path):
    data = f32(*range(10_000))[2] + b"\0\0\xc0\x7f"
    tensors = [tensor_in(tmp_path / n, data, DType.F32, n) for n in "abc"]
    checkpoint = opened(*tensors, tensors[0])
    with dask_executor(scheduler) as executor:
        assert scan_checkpoint(checkpoint, executor) == scan_checkpoint(checkpoint)


def test_what_a_worker_cannot_read_is_a_note(scheduler, tmp_path):
    tensor = tensor_in(tmp_path / "a", f32(1)[2], DType.F32)
    (tmp_path / "a").unlink()
    with dask_executor(scheduler) as executor:
        (note,) = scan_checkpoint(opened(tensor), executor).notes
    assert "No such file" in note.text


def test_a_path(scheduler, tmp_path):
    path = write_safetensors(tmp_path / "model.safetensors", {"w": f32(1, float("inf"))})
    assert scan_path(path, dask=scheduler) == scan_path(path)


def test_an_address(scheduler, request):
    """Workers that are threads see the same memory."""
    if "processes" in request.node.callspec.id:
        pytest.skip("another process has a memory of its own")
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.pipe("/run/model.pt", b"")
    try:
        local = write_safetensors(
            request.getfixturevalue("tmp_path") / "m.safetensors", {"w": f32(1, 2)}
        )
        system.pipe("/run/model.safetensors", local.read_bytes())
        scan = scan_path("memory://run/model.safetensors", dask=scheduler)
    finally:
        system.rm("/", recursive=True)
    assert [t.abs_max for t in scan.tensors] == [2.0]


def test_no_scheduler_is_one_line_of_analyze(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(cluster, "ANSWER_WITHIN", 1)
    report = str(tmp_path / "report.html")
    assert main(["analyze", str(RUN), "--dask", "tcp://127.0.0.1:9", "-o", report]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no Dask scheduler answers there" in line


@pytest.mark.parametrize("protocol", ["", "local://"])
def test_the_whole_analysis(scheduler, protocol):
    """Of a folder and of an address: what workers find is what is found here."""
    if protocol:
        pytest.importorskip("fsspec")
    there = forensics.analyze(f"{protocol}{RUN}", scan="all", dask=scheduler)
    here = forensics.analyze(f"{protocol}{RUN}", scan="all")
    assert there.to_dict() == here.to_dict()
    assert there.tensors.equals(here.tensors)
    assert there.tensors.nan.sum() > 0


def test_the_command(scheduler, tmp_path, capsys):
    report = tmp_path / "report.html"
    words = ["analyze", str(RUN), "--dask", scheduler, "-o", str(report), "-q"]
    assert main(words) == 0
    assert capsys.readouterr() == ("", "")
    assert "checkpoint-160" in report.read_text()
