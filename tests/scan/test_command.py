"""``forensics scan`` and ``forensics.scan``: paths, output, exit status."""

import csv
import subprocess
import sys

import numpy as np
import pytest

import forensics
from forensics.checkpoints import DType
from forensics.cli import main
from forensics.findings import TensorStats
from tests.scan.stored import f32, write_safetensors

NAN = float("nan")


@pytest.fixture
def run_dir(tmp_path):
    """Five checkpoints, the last three of which hold a NaN."""
    for place in range(1, 6):
        folder = tmp_path / f"checkpoint-{place * 10}"
        folder.mkdir()
        values = f32(1.0, NAN if place >= 3 else 2.0)
        write_safetensors(folder / "model.safetensors", {"fc.weight": values, "fc.bias": f32(0)})
    return tmp_path


def test_nothing_there_is_one_line(tmp_path, capsys):
    assert main(["scan", str(tmp_path / "no")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "no such file" in err


def test_a_folder_without_checkpoints_is_one_line(tmp_path, capsys):
    (tmp_path / "log.txt").write_text("step 1")
    assert main(["scan", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"forensics: {tmp_path}: holds no checkpoint\n"


def test_what_is_no_checkpoint_is_one_line(tmp_path, capsys):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"hello")
    assert main(["scan", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_wrong_scheduler_is_one_line(run_dir, capsys, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("forensics.scan.cluster.ANSWER_WITHIN", 1)
    assert main(["scan", str(run_dir), "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler answers there" in capsys.readouterr().err


def test_a_finite_checkpoint(run_dir, capsys):
    path = run_dir / "checkpoint-10"
    assert main(["scan", str(path), "--exit-code"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{path}")
    assert "2 tensors, 12 bytes, finite" in out
    assert "POISONED" not in out


def test_poisoned_tensors_come_first(run_dir, capsys):
    assert main(["scan", str(run_dir / "checkpoint-30"), "--exit-code"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "POISONED: 1 of them" in lines[0]
    assert lines[2].split()[:5] == ["fc.weight", "param", "F32", "2", "1"]


def test_a_run_directory_is_scanned_whole(run_dir, capsys):
    assert main(["scan", str(run_dir)]) == 0
    out = capsys.readouterr().out
    assert out.count("POISONED") == 3
    assert "checkpoint-50 (step 50)" in out


def test_bisect_scans_what_is_needed(run_dir, capsys):
    assert main(["scan", str(run_dir), "--scan", "bisect"]) == 0
    out = capsys.readouterr().out
    assert "checkpoint-20 (step 20)" in out
    assert "checkpoint-30 (step 30)" in out
    assert "checkpoint-10 (step 10)" not in out


def test_one_path_that_fails_stops_no_other(run_dir, capsys):
    assert main(["scan", "no", str(run_dir / "checkpoint-10"), "nothing"]) == 2
    out, err = capsys.readouterr()
    assert "finite" in out
    assert sorted(line.split(": ")[1] for line in err.splitlines()) == ["no", "nothing"]


def test_quiet_prints_nothing(run_dir, capsys):
    assert main(["scan", str(run_dir), "-q"]) == 0
    assert capsys.readouterr().out == ""


def test_many_tensors_are_cut_short_unless_asked_for(tmp_path, capsys):
    many = {f"layers.{i}.weight": f32(i) for i in range(60)}
    path = write_safetensors(tmp_path / "model.safetensors", many)
    main(["scan", str(path)])
    assert "and 20 more" in capsys.readouterr().out
    main(["scan", str(path), "--all"])
    assert "layers.59.weight" in capsys.readouterr().out


def test_names_cannot_write_to_the_terminal(tmp_path, capsys):
    path = write_safetensors(tmp_path / "model.safetensors", {"\x1b[2Jw": f32(1)})
    main(["scan", str(path)])
    assert "\x1b" not in capsys.readouterr().out


def test_csv(run_dir, tmp_path):
    target = tmp_path / "out.csv"
    assert main(["scan", str(run_dir / "checkpoint-30"), "-q", "--csv", str(target)]) == 0
    with target.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["nan"] for row in rows] == ["0", "1"] or [row["nan"] for row in rows] == ["1", "0"]
    assert set(rows[0]) == set(TensorStats.__annotations__)


def test_the_python_function_gives_a_table(run_dir):
    table = forensics.scan(run_dir / "checkpoint-30")
    assert list(table.columns) == list(TensorStats.__annotations__)
    weight = table[table.name == "fc.weight"].iloc[0]
    assert (weight.nan, weight.first_bad, weight.step) == (1, 1, 30)
    assert len(forensics.scan(str(run_dir))) == 10


def test_every_type_that_safetensors_writes(tmp_path):
    one = {d: np.ones(3, "u1").tobytes() * d.size for d in DType if d is not DType.OTHER}
    tensors = {str(d): (d, (3,), data) for d, data in one.items() if not d.name.startswith("C1")}
    table = forensics.scan(write_safetensors(tmp_path / "m.safetensors", tensors))
    assert sorted(table.dtype) == sorted(tensors)
    assert (table.missing == "").all()


def test_a_small_scan_loads_nothing_heavy(run_dir):
    code = (
        "import sys; from forensics.cli import main; main(sys.argv[1:]); "
        "print(sorted({'numba', 'pandas', 'scipy', 'torch', 'rich', 'matplotlib', 'fsspec',"
        "'distributed', 'h5py'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "scan", str(run_dir / "checkpoint-10")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "[]"
