"""What starting costs: ``import forensics`` and ``forensics --help`` load no heavy package."""

import json
import subprocess
import sys
from importlib.metadata import distributions, entry_points

import pytest

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
LOADED = "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"


def loaded_by(code: str) -> set[str]:
    """Top-level modules in a fresh interpreter after running ``code``."""
    command = [sys.executable, "-c", f"import json, sys\n{code}\n{LOADED}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_loads_nothing_heavy():
    assert not loaded_by("import forensics") & HEAVY


@pytest.mark.parametrize(
    "words",
    [["--help"], ["analyze", "--help"], pytest.param(["--version"], marks=needs_install)],
)
def test_help_loads_nothing_heavy(words):
    calling = (
        "from forensics.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit as end:\n    assert not end.code"
    )
    assert not loaded_by(calling) & HEAVY


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
