"""The whole analysis of a run behind an address."""

import gc
import json
import tempfile
from pathlib import Path

import pytest

import forensics
from forensics.cli import main
from forensics.errors import NothingToAnalyse, UnreadableFile, UsageError

SAMPLES = Path(__file__).parents[2] / "sample_runs"
NAN_RUN = SAMPLES / "hf_nan_behind_filter"
LOG = b"step,loss\n" + b"".join(b"%d,%.4f\n" % (s, 3 / (1 + s / 50)) for s in range(300))


def without_place(diagnosis):
    told = diagnosis.to_dict()
    del told["run"]["path"]
    return told


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def only_line(capsys):
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    return line


def test_nothing_at_the_address_is_one_line(memory, capsys):
    memory.pipe("/run/log.csv", LOG)
    assert main(["analyze", "memory://nowhere"]) == 2
    assert only_line(capsys) == "forensics: memory://nowhere: no such file or folder"
    assert main(["timeline", "memory://nowhere"]) == 2
    assert only_line(capsys) == "forensics: memory://nowhere: no such file or folder"
    assert main(["scan", "memory://nowhere"]) == 2
    assert "memory://nowhere: no such file" in only_line(capsys)


def test_nothing_known_there(memory):
    memory.pipe("/run/picture.txt", b"hello")
    with pytest.raises(NothingToAnalyse, match="memory://run: nothing to analyse among 1 file"):
        forensics.analyze("memory://run")


def test_a_missing_driver_is_one_line(monkeypatch, capsys):
    from fsspec.registry import known_implementations

    monkeypatch.setitem(
        known_implementations,
        "far",
        {"class": "nosuchdriver.Far", "err": "Install nosuchdriver to access far away"},
    )
    assert main(["analyze", "far://bucket/run"]) == 2
    line = only_line(capsys)
    assert line.startswith("forensics: far://bucket/run: far:// needs a driver")
    assert "Install nosuchdriver" in line


def test_missing_fsspec_is_one_line(monkeypatch, capsys):
    import sys

    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    assert main(["analyze", "s3://bucket/run"]) == 2
    assert "pip install 'run-forensics[remote]'" in only_line(capsys)


def test_an_unknown_kind_is_one_line(capsys):
    assert main(["analyze", "nosuch://bucket/run"]) == 2
    assert "nosuch" in only_line(capsys)


@pytest.mark.parametrize("command", ["analyze", "timeline", "scan"])
def test_no_permission_is_one_line(shelf, capsys, command):
    shelf.pipe("/run/log.csv", LOG)
    shelf.faults["info", "/run"] = PermissionError("Access Denied")
    assert main([command, "shelf://run"]) == 2
    line = only_line(capsys)
    assert line.startswith("forensics: shelf://run: ")
    assert "no permission (access denied)" in line.lower()


def test_a_driver_with_errors_of_its_own(shelf, capsys):
    class NoCredentialsError(Exception):
        pass

    shelf.pipe("/run/log.csv", LOG)
    shelf.faults["ls", "/run"] = NoCredentialsError("Unable to locate credentials\nsecond line")
    assert main(["analyze", "shelf://run"]) == 2
    line = only_line(capsys)
    assert "shelf://run" in line
    assert "NoCredentialsError: Unable to locate credentials" in line


def test_a_store_that_cannot_be_opened(monkeypatch):
    import fsspec.core

    def refuse(address):
        raise RuntimeError("no profile")

    monkeypatch.setattr(fsspec.core, "url_to_fs", refuse)
    with pytest.raises(UnreadableFile, match="RuntimeError: no profile"):
        forensics.analyze("s3://bucket/run")


def test_a_listing_that_fails_midway_costs_only_its_folder(shelf):
    shelf.pipe("/run/log.csv", LOG)
    shelf.pipe("/run/broken/more.csv", LOG)
    shelf.faults["ls", "/run/broken"] = ConnectionError("connection lost")
    diagnosis = forensics.analyze("shelf://run")
    assert diagnosis.to_dict()["run"]["points"] == 300
    (warning,) = (w for w in diagnosis.warnings if "broken" in w)
    assert warning == "broken: folder could not be read (connection lost)"


def test_a_log_that_cannot_be_read_is_a_note(shelf):
    shelf.pipe("/run/log.csv", LOG)
    shelf.pipe("/run/other.csv", LOG)
    shelf.faults["cat_file", "/run/other.csv"] = PermissionError("Forbidden")
    diagnosis = forensics.analyze("shelf://run")
    (warning,) = (w for w in diagnosis.warnings if "other.csv" in w)
    assert "no permission (Forbidden)" in warning


def test_no_run_of_that_name(memory):
    memory.pipe("/run/log.csv", LOG)
    with pytest.raises(UsageError, match="memory://run: no run is called 'b'"):
        forensics.open_run("memory://run", run="b")


def test_only_what_is_needed_is_read(shelf, upload, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    upload(NAN_RUN, shelf, "run")
    shelf.pipe("/run/data.bin", bytes(20_000_000))
    shelf.pipe("/run/.git/objects/pack", bytes(1000))
    shelf.pipe("/run/big.safetensors", (NAN_RUN / "checkpoint-160/model.safetensors").read_bytes())
    run = forensics.open_run("shelf://run")
    assert len(run.checkpoints) == 4
    assert not list(tmp_path.iterdir())
    assert "/run/.git/objects/pack" not in shelf.read
    assert shelf.read["/run/data.bin"] < 1 << 20
    assert shelf.read["/run/trainer_state.json"] <= 2 * shelf.size("/run/trainer_state.json")
    # Of a checkpoint the beginning: a header's worth, whatever its size.
    weights = {k: v for k, v in shelf.read.items() if k.endswith(".safetensors")}
    assert weights
    assert max(weights.values()) <= 3 << 16


def test_an_open_run_is_analysed_as_its_address(memory, upload):
    upload(NAN_RUN, memory, "run")
    run = forensics.open_run("memory://run")
    assert str(run.path) == "memory://run"
    assert without_place(forensics.analyze(run)) == without_place(forensics.analyze("memory://run"))


@pytest.mark.parametrize("scan", ["bisect", "all", "none"])
def test_the_same_diagnosis_as_of_the_folder(memory, upload, scan):
    upload(NAN_RUN, memory, "runs/nan")
    there = forensics.analyze("memory://runs/nan", scan=scan)
    here = forensics.analyze(NAN_RUN, scan=scan)
    assert without_place(there) == without_place(here)
    assert there.to_dict()["run"]["path"] == "memory://runs/nan"
    assert there.tensors.equals(here.tensors)


def test_captured_batches_are_listed(memory, upload):
    upload(NAN_RUN, memory, "run")
    batches = forensics.open_run("memory://run").batches
    assert batches == tuple(f"batches/step_{n}.safetensors" for n in range(187, 191))


def test_a_store_that_is_a_disk(tmp_path):
    """Another implementation of fsspec: real folders, absolute addresses, links."""
    target = tmp_path / "run"
    for file in NAN_RUN.rglob("*"):
        if file.is_file():
            copy = target / file.relative_to(NAN_RUN)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    (target / "loop").symlink_to(target)
    (target / "gone").symlink_to(target / "nothing")
    there = forensics.analyze(f"local://{target}")
    assert (
        without_place(there)["checkpoints"]
        == without_place(forensics.analyze(target))["checkpoints"]
    )
    assert there.outcome == forensics.analyze(target).outcome


def test_the_address_of_a_local_file_is_its_path(tmp_path, capsys):
    folder = tmp_path / "my run"
    folder.mkdir()
    (folder / "log.csv").write_bytes(LOG)
    assert main(["analyze", (folder.as_uri())]) == 0
    assert (folder / "forensics-report.html").exists()
    assert forensics.open_run(folder.as_uri()).path == folder


def test_a_single_log(memory):
    memory.pipe("/run/log.csv", LOG)
    assert forensics.analyze("memory://run/log.csv").to_dict()["run"]["points"] == 300


def test_the_report_goes_to_the_current_directory(memory, here, capsys):
    memory.pipe("/run/log.csv", LOG)
    assert main(["analyze", "memory://run"]) == 0
    shown = capsys.readouterr()
    assert shown.err == (
        "forensics: nothing is written to memory://run; the report goes to "
        "./forensics-report.html\n"
    )
    assert "memory://run" in (here / "forensics-report.html").read_text()
    assert memory.ls("/run", detail=False) == ["/run/log.csv"]


def test_quiet_and_where_to(memory, here, capsys):
    memory.pipe("/run/log.csv", LOG)
    assert main(["analyze", "memory://run", "-q", "-o", "a.html", "--json", "a.json"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (here / "a.html").exists()
    assert json.loads((here / "a.json").read_text())["run"]["points"] == 300


def test_timeline(memory, here, capsys):
    memory.pipe("/run/log.csv", LOG)
    assert main(["timeline", "memory://run", "--csv", "all.csv"]) == 0
    assert "no episodes" in capsys.readouterr().out
    assert len((here / "all.csv").read_text().splitlines()) == 301


def test_no_file_stays_open(shelf, upload):
    upload(NAN_RUN, shelf, "run")
    forensics.analyze("shelf://run")
    gc.collect()  # an open file would warn, and a warning is an error here
    assert shelf.read
