"""What starting costs: ``import forensics`` and ``forensics --help`` load no heavy package."""

import json
import pkgutil
import struct
import subprocess
import sys
from importlib.metadata import distributions, entry_points
from pathlib import Path

import numpy as np
import pytest

from forensics import cli

INSTALLED = any(d.metadata["Name"] == "run-forensics" for d in distributions())
needs_install = pytest.mark.skipif(not INSTALLED, reason="run-forensics is not installed")
HEAVY = {
    "IPython",
    "jinja2",
    "matplotlib",
    "numba",
    "numpy",
    "pandas",
    "rich",
    "safetensors",
    "scipy",
    "tensorboard",
    "torch",
    "yaml",
}
LOADED = "print(json.dumps(sorted(sys.modules)))"
ROOMS = {
    f"forensics.{room}"
    for room in (
        *("advice", "analysis", "case", "causes", "detectors", "diagnosis", "findings", "loading"),
        *("outcome", "readers", "replay", "report", "run", "signals", "timeline", "tree"),
        *("verdict", "checkpoints._hdf5._tree", "checkpoints._torch._archive"),
        *("checkpoints._dcp._shards", "checkpoints._param_names._matching"),
    )
}
"""What a scan of one file of weights has no use for."""
SCAN = "from forensics.cli import main\nassert main(['scan', {path!r}]) == 0"


def loaded_by(code: str) -> set[str]:
    """Modules in a fresh interpreter after running ``code``."""
    command = [sys.executable, "-c", f"import json, sys\n{code}\n{LOADED}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_loads_nothing_heavy():
    assert not loaded_by("import forensics") & HEAVY


def test_import_loads_no_room():
    assert not loaded_by("import forensics") & (ROOMS | {"forensics.scan", "forensics.checkpoints"})


@pytest.mark.parametrize(
    "words",
    [["--help"], ["analyze", "--help"], pytest.param(["--version"], marks=needs_install)],
)
def test_help_loads_nothing_heavy(words):
    calling = (
        "from forensics.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit as end:\n    assert not end.code"
    )
    loaded = loaded_by(calling)
    assert not loaded & HEAVY
    assert not loaded & ROOMS


def test_help_lists_every_command():
    done = subprocess.run(
        [sys.executable, "-m", "forensics", "--help"], capture_output=True, text=True, check=True
    )
    modules = pkgutil.iter_modules(cli.__path__)
    names = {m.name[1:] for m in modules if "\nCOMMAND = " in source_of(cli, m.name)}
    assert names == set(cli.COMMANDS)
    assert all(f"\n    {name} " in done.stdout for name in names)


def source_of(package, module: str) -> str:
    return (Path(package.__path__[0]) / f"{module}.py").read_text("utf-8")


def test_a_small_scan_loads_no_more_than_it_needs(tmp_path):
    path = tmp_path / "model.safetensors"
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<2f", 1.0, 2.0))
    loaded = loaded_by(SCAN.format(path=str(path)))
    assert not loaded & (HEAVY - {"numpy"})
    assert not loaded & ROOMS
    assert not loaded & {"concurrent.futures", "importlib.metadata", "logging", "multiprocessing"}


def test_scanning_opens_formats_only_when_they_occur(tmp_path):
    np.savez(tmp_path / "model.npz", w=np.ones(3, np.float32))
    loaded = loaded_by(SCAN.format(path=str(tmp_path / "model.npz")))
    assert "forensics.checkpoints._zip._archive" in loaded
    assert not loaded & ROOMS


def test_the_public_names_are_there_all_the_same():
    code = "import forensics\nassert set(forensics.__all__) <= set(dir(forensics))\n"
    names = "\n".join(
        f"assert forensics.{name}" for name in ("analyze", "open_run", "causes", "ForensicsError")
    )
    assert "numpy" in loaded_by(code + names)


@needs_install
def test_the_command_is_called_forensics():
    (command,) = entry_points(group="console_scripts", name="forensics")
    assert command.value == "forensics.cli:entry_point"
