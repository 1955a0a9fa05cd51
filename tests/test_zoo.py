"""The zoo's generator: its labels speak the tool's words, and its fastest runs are as labelled."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from forensics.causes import all_causes
from forensics.findings import Outcome
from tests import zoo, zoo_clues, zoo_rows, zoo_totals

ZOO = Path(__file__).parents[1] / "sample_runs" / "zoo.py"
NEEDS_TORCH = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="the runs are trained with torch"
)
QUICK = ("nan_in_input-regression-1", "log_or_root_at_zero-regression-1", "late_fall-mlp-1")


def run(*words: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, str(ZOO), *map(str, words)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo")
    run("make", folder, "--jobs", "1", "--part", "tuning", "--only", *QUICK)
    return folder


def truth(folder: Path) -> dict:
    return json.loads((folder / "truth.json").read_text())


@NEEDS_TORCH
def test_every_cause_has_runs_in_both_parts():
    for part in zoo_rows.PARTS:
        listed = {line.split()[1] for line in run("list", "--part", part).splitlines()[:-1]}
        assert listed == {cause.name for cause in all_causes()}


@NEEDS_TORCH
def test_the_parts_share_no_run():
    names = [
        {line.split()[2] for line in run("list", "--part", part).splitlines()[:-1]}
        for part in zoo_rows.PARTS
    ]
    assert not names[0] & names[1]


@NEEDS_TORCH
def test_a_fault_that_does_not_show_is_not_labelled(tmp_path):
    sys.path.insert(0, str(ZOO.parent))
    from zoo_runs.fault import Cell
    from zoo_runs.faults import learning_rate_too_low
    from zoo_runs.making import FaultDidNotShow, make

    harmless = Cell(learning_rate_too_low.FAULT, "tuning", "regression", 1.0, 1)
    with pytest.raises(FaultDidNotShow, match="choose another strength"):
        make(harmless, tmp_path)
    assert not list(tmp_path.rglob("truth.json"))


@NEEDS_TORCH
def test_labels(home):
    folders = zoo_rows.runs_in(home)
    assert {f.name for f in folders} == set(QUICK)
    names = {cause.name for cause in all_causes()}
    for folder in folders:
        told = truth(folder)
        assert told["outcome"] in set(Outcome)
        assert {told["cause"], *told["accept"], *told["accept_from_logs"]} <= names
        last = told["last_healthy_checkpoint"]
        assert last is None or (folder / last).exists()


@NEEDS_TORCH
def test_the_label_is_what_happened(home):
    broken = truth(home / "tuning" / "nan_in_input-regression-1")
    assert (broken["outcome"], broken["loss"]["end"]) == (
        "non_finite",
        pytest.approx(float("nan"), nan_ok=True),
    )
    assert broken["loss"]["control_end"] < 0.1 * broken["loss"]["start"]
    late = truth(home / "tuning" / "late_fall-mlp-1")
    assert (late["outcome"], late["onset_step"]) == ("healthy", None)


@NEEDS_TORCH
def test_rows_and_totals(home):
    rows = [zoo_rows.look(folder) for folder in zoo_rows.runs_in(home)]
    found = zoo_totals.totals(rows)
    assert found["runs"] == 3
    assert found["true cause first"]["of"] == 2
    assert 0 <= found["Brier score"] <= 1


def test_an_empty_folder_is_told_so(tmp_path, capsys):
    assert zoo.main([str(tmp_path)]) == 2
    assert "no runs" in capsys.readouterr().out


@NEEDS_TORCH
def test_the_table_of_clues_tells_how_it_was_made(tmp_path, monkeypatch, home, capsys):
    monkeypatch.setattr(zoo_clues, "KEPT", tmp_path / "clues.txt")
    assert zoo.main(["clues", str(home), "--jobs", "1", "--write"]) == 0
    kept = (tmp_path / "clues.txt").read_text().splitlines()
    assert kept[:2] == ["python -m tests.zoo clues DIR --write", f"{len(QUICK)} runs: 3 tuning"]
    assert "\n".join(kept[3:]) in capsys.readouterr().out
    declared = sum(len(cause.clues) for cause in all_causes())
    assert sum(row.startswith("  ") for row in kept) == declared
