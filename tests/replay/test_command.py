"""``forensics replay`` and ``--replay`` of ``analyze``: wrong calls, bad files, a whole replay."""

import importlib.util
import json
from pathlib import Path

import pytest

import forensics
from forensics.cli import main
from forensics.errors import UsageError
from forensics.findings import Status
from forensics.replay_facts import Variant

ROOT = Path(__file__).parents[2]
RUN = ROOT / "sample_runs" / "torch_bad_batch"
FILE = ROOT / "sample_runs" / "trainings" / "bad_batch_replay.py"
HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="a replay needs torch")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--replay", "no_such.py"], "no such replay file"),
        (["--replay", str(FILE), "--device", "tpu"], "auto, cpu, cuda or cuda:N"),
        (["--replay", str(FILE), "--budget", "0"], "seconds above zero"),
        (["--replay", str(FILE), "--budget", "inf"], "seconds above zero"),
        pytest.param(
            ["--replay", str(FILE), "--step", "9999"], "steps 1 to 600", marks=needs_torch
        ),
        pytest.param(
            ["--replay", str(FILE), "--run", "other"], "no run is called", marks=needs_torch
        ),
    ],
)
def test_a_wrong_call_is_one_line(words, said, capsys):
    assert main(["replay", str(RUN), *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert said in err


def test_without_torch_the_call_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(["replay", str(RUN), "--replay", str(FILE)]) == 2
    assert "run-forensics[replay]" in capsys.readouterr().err


def test_a_wrong_call_costs_no_scan(monkeypatch):
    monkeypatch.setattr("forensics.analysis.load_runs", lambda *_: pytest.fail("it was read"))
    with pytest.raises(UsageError, match="no such replay file"):
        forensics.analyze(RUN, replay="no_such.py")


@needs_torch
def test_a_run_elsewhere_is_to_be_copied_first(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/far/log.csv", b"step,loss\n1,2.0\n2,1.5\n3,1.2\n")
    with pytest.raises(UsageError, match="on this machine"):
        forensics.analyze("memory://far", replay=FILE)


@needs_torch
def test_a_file_that_raises_costs_nothing_but_the_replay(tmp_path, capsys):
    broken = tmp_path / "broken.py"
    broken.write_text("import torch\n\nraise ValueError('shard 7 is gone')\n")
    report, told = tmp_path / "report.html", tmp_path / "told.json"
    call = ["analyze", str(RUN), "--replay", str(broken), "-o", str(report), "--json", str(told)]
    assert main([*call, "--scan", "none"]) == 0
    assert "broken.py:3" in "".join(capsys.readouterr().out.split())
    found = json.loads(told.read_text())
    assert found["hypotheses"][0]["cause"] == "bad_batch"
    (failure,) = found["replay"]["failures"]
    assert "broken.py:3" in failure
    assert "shard 7 is gone" in failure
    assert "broken.py:3" in report.read_text(encoding="utf-8")
    assert main(["replay", str(RUN), "--replay", str(broken)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "shard 7 is gone" in err


@needs_torch
def test_the_replay_file_of_the_readme_proves_the_batch(tmp_path, capsys):
    before = {path: path.stat().st_mtime_ns for path in RUN.rglob("*")}
    d = forensics.analyze(RUN, replay=FILE, device="cpu", budget=120)
    assert {path: path.stat().st_mtime_ns for path in RUN.rglob("*")} == before
    assert d.replay.failures == ()
    assert d.replay.as_run.reproduces is True
    assert d.replay.variant(Variant.SKIP_BATCH).removes
    assert not d.replay.variant(Variant.RATE_TENTH).removes
    assert d.hypotheses[0].cause == "bad_batch"
    assert d.hypotheses[0].status is Status.CONFIRMED


@needs_torch
def test_another_step_can_be_made_the_suspect(tmp_path, capsys):
    told = tmp_path / "told.json"
    call = ["replay", str(RUN), "--replay", str(FILE), "--step", "210", "--json", str(told), "-q"]
    assert main([*call, "--budget", "20"]) == 0
    assert capsys.readouterr().out == ""
    found = json.loads(told.read_text())
    assert found["suspect_step"] == 210
    assert found["comparisons"][0]["suspect"]["step"] == 210
    assert found["conclusion"]["blame"] == "neither"
