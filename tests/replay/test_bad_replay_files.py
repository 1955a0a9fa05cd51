"""Replay files that go wrong: one plain line that names file and line, and a diagnosis all the
same; nothing in the user's folder is touched."""

import argparse
import hashlib
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import forensics  # noqa: E402
from tests.replay.runs import unstable_loss_function  # noqa: E402

GOOD = """
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits


def build_model():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))


def load_batch(step):
    x = torch.randn(8, 16, generator=torch.Generator().manual_seed(step))
    return x, (x[:, :1] > 0).float()


def compute_loss(model, batch):
    x, y = batch
    return binary_cross_entropy_with_logits(model(x), y)
"""


@dataclass(frozen=True)
class Bad:
    """One way to go wrong."""

    old: str
    new: str
    """In place of ``old``."""
    says: str
    """Regular expression of the failure; ``FILE`` is the replay file."""
    budget: float = 30.0
    whole: str = ""
    """The whole text of the file, where it is not the good one changed."""
    environment: dict = field(default_factory=dict)


BODY = "    x = torch.randn(8"
RETURN = "    return binary_cross_entropy_with_logits(model(x), y)"
BAD = {
    "raises_at_import": Bad(
        "import torch\n", "import torch\n1 / 0\n", r"FILE:3: importing it raised ZeroDivisionError"
    ),
    "syntax_error": Bad("x, y = batch", "x, y = = batch", r"FILE:17: invalid syntax"),
    "unknown_module": Bad(
        "import torch\n",
        "import torch, no_such_thing\n",
        r"FILE:2: importing it raised ModuleNotFoundError: .*no_such_thing",
    ),
    "not_text": Bad("", "", r"FILE.*", whole="\x00\x01\x02"),
    "empty": Bad("", "", r"FILE: it defines no function build_model", whole="# nothing\n"),
    "missing_function": Bad(
        "def load_batch", "def load_batches", r"FILE: it defines no function load_batch"
    ),
    "exits_at_import": Bad(
        "import torch\n", "import sys\nsys.exit(3)\n", r"FILE:3: importing it raised SystemExit: 3"
    ),
    "no_module": Bad(
        "    return nn.Seq",
        "    return [nn.Linear(2, 2)] or nn.Seq",
        r"FILE:7: build_model returned list",
    ),
    "loss_per_sample": Bad(
        RETURN, "    return (model(x) - y)", r"FILE:16: compute_loss returned shape \(8, 1\)"
    ),
    "loss_is_a_number": Bad(RETURN, "    return 3.0", r"FILE:16: compute_loss returned float"),
    "loss_without_gradient": Bad(
        RETURN,
        "    return (model(x) - y).mean().detach()",
        r"FILE:16: compute_loss returned a loss without a gradient",
    ),
    "loss_raises": Bad(
        RETURN, "    return model(x.double()).mean()", r"FILE:18: compute_loss raised RuntimeError"
    ),
    "index_error": Bad(
        BODY,
        "    rows = [0] * 185\n    rows[step]\n" + BODY,
        r"FILE:13: load_batch raised IndexError",
    ),
    "interrupts": Bad(
        BODY,
        "    raise KeyboardInterrupt\n" + BODY,
        r"FILE:12: load_batch raised KeyboardInterrupt",
    ),
    "exits": Bad(BODY, "    exit(1)\n" + BODY, r"FILE:12: load_batch raised SystemExit"),
    "hangs": Bad(
        BODY,
        "    while True:\n        pass\n" + BODY,
        r"FILE:1[123]: load_batch: still running at the end of the budget",
        budget=2.0,
    ),
    "hangs_at_import": Bad(
        "import torch\n",
        "import time\ntime.sleep(900)\n",
        r"FILE:3: <module>: still running",
        budget=1.0,
    ),
    "downloads": Bad(
        BODY,
        "    import urllib.request as r\n    r.urlopen('http://example.org/x')\n" + BODY,
        r"FILE:13: load_batch: .*example\.org.*stays off the network",
    ),
    "opens_a_socket": Bad(
        BODY,
        "    import socket\n    socket.create_connection(('192.0.2.1', 80))\n" + BODY,
        r"FILE:13: load_batch: .*192\.0\.2\.1.*stays off the network",
    ),
    "exhausts_memory": Bad(
        BODY,
        "    kept = []\n    while True:\n        kept.append(bytearray(1 << 26))\n" + BODY,
        r"FILE:14: load_batch raised MemoryError",
        environment={"FORENSICS_REPLAY_MEMORY": "0.5"},
    ),
    "exhausts_torch_memory": Bad(
        BODY,
        "    torch.ones(1 << 31)\n" + BODY,
        r"FILE:12: load_batch raised RuntimeError: .*memory",
        environment={"FORENSICS_REPLAY_MEMORY": "0.5"},
    ),
    "ends_the_process": Bad(
        BODY,
        "    import os\n    os._exit(3)\n" + BODY,
        r"FILE:11: load_batch: it ended the process \(exit status 3\)",
    ),
    "segfault": Bad(
        BODY,
        "    import ctypes\n    ctypes.string_at(0)\n" + BODY,
        r"FILE:13: load_batch: the replay crashed \(SIGSEGV\)",
    ),
}


def digest(folder):
    """Every path below the folder with what it holds."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run whose loss became NaN at some step after 150."""
    folder = tmp_path_factory.mktemp("run")
    unstable_loss_function.RUN.write(folder)
    return folder / "run"


@pytest.fixture(scope="module")
def analysed(run, tmp_path_factory):
    """Name -> replay file, diagnosis, and the folder before and after; two at a time."""
    folder = tmp_path_factory.mktemp("files")

    def one(name):
        bad = BAD[name]
        (folder / name).mkdir()
        shutil.copytree(run, folder / name / "run")
        file = folder / name / "replay_file.py"
        file.write_text(bad.whole or GOOD.replace(bad.old, bad.new))
        before = digest(folder / name)
        found = forensics.analyze(
            folder / name / "run", replay=file, device="cpu", budget=bad.budget
        )
        return file, found, before, digest(folder / name)

    calm = [name for name, bad in BAD.items() if not bad.environment]
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        done = dict(zip(calm, pool.map(one, calm), strict=True))
        for name in BAD.keys() - done.keys():
            for variable, value in BAD[name].environment.items():
                patch.setenv(variable, value)
            done[name] = one(name)
    return done


@pytest.mark.parametrize("name", BAD)
def test_one_plain_line_names_file_and_line(analysed, name):
    file, found, _, _ = analysed[name]
    failures = found.verdict.case.replay.failures
    pattern = BAD[name].says.replace("FILE", re.escape(str(file)))
    assert len(failures) == 1, failures
    assert re.match(pattern, failures[0]), failures[0]
    assert "\n" not in failures[0]
    assert "Traceback" not in failures[0]
    assert len(failures[0]) < 700


@pytest.mark.parametrize("name", BAD)
def test_the_rest_of_the_analysis_is_delivered(analysed, name):
    _, found, before, after = analysed[name]
    assert found.outcome == "non_finite"
    assert found.hypotheses
    assert before == after
    assert "Traceback" not in found.to_markdown()


def test_a_good_file_has_no_failures(run, tmp_path):
    """Also one that prints without end, goes to another folder and is named by a short path."""
    noisy = GOOD.replace(
        BODY,
        "    import sys\n    print('x' * 10**6)\n    print('y' * 10**6, file=sys.stderr)\n" + BODY,
    )
    noisy = noisy.replace("import torch\n", "import os\nos.chdir('/')\nimport torch\n", 1)
    (tmp_path / "replay_file.py").write_text(noisy)
    shutil.copytree(run, tmp_path / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        before = digest(tmp_path)
        found = forensics.analyze("run", replay="replay_file.py", device="cpu", budget=60)
        assert digest(tmp_path) == before
    facts = found.verdict.case.replay
    assert facts.failures == ()
    assert facts.as_run is not None
    assert facts.comparisons
    assert Path.cwd() != Path("/")


# -- checkpoints -------------------------------------------------------------------------------


@dataclass
class OfTheProject:
    """A class that nobody but the user has."""

    width: int = 3


class Hostile:
    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('ran').touch()",))


def with_checkpoint(run, folder, change):
    """Facts of a replay whose checkpoints were changed."""
    shutil.copytree(run, folder / "run")
    (folder / "replay_file.py").write_text(GOOD)
    for path in (folder / "run/checkpoints").iterdir():
        state = torch.load(path)
        change(state)
        torch.save(state, path)
    found = forensics.analyze(
        folder / "run", replay=folder / "replay_file.py", device="cpu", budget=30, scan="none"
    )
    assert found.hypotheses
    return found.verdict.case.replay


def test_weights_that_do_not_fit_are_told_by_name(run, tmp_path):
    def change(state):
        weights = state["model"]
        weights["head.weight"] = weights.pop("2.weight")
        weights["0.weight"] = torch.zeros(32, 15)

    facts = with_checkpoint(run, tmp_path, change)
    (load,) = facts.loads
    assert not load.fits
    assert load.missing == ("2.weight",)
    assert load.unexpected == ("head.weight",)
    assert load.mismatched == ("0.weight: (32, 15) in the checkpoint, (32, 16) in the model",)
    (failure,) = facts.failures
    assert "2.weight" in failure
    assert "(32, 15)" in failure
    assert load.checkpoint in failure


def test_an_optimizer_state_that_does_not_fit_is_told(run, tmp_path):
    def change(state):
        state["optimizer"]["state"][0]["exp_avg"] = torch.zeros(3)

    facts = with_checkpoint(run, tmp_path, change)
    assert facts.failures == ()
    assert facts.loads[0].fits
    assert facts.loads[0].optimizer is False
    assert "(3)" in facts.loads[0].optimizer_trouble
    assert facts.as_run is not None


def test_classes_inside_a_checkpoint_are_read_without_being_run(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def change(state):
        state["args"] = argparse.Namespace(lr=1.0, nested=OfTheProject())
        state["callbacks"] = {"early": OfTheProject(5), "hostile": Hostile()}

    sys.modules["__main__"].Hostile = Hostile
    facts = with_checkpoint(run, tmp_path, change)
    assert facts.failures == ()
    assert facts.loads[0].fits
    assert facts.loads[0].optimizer is True
    assert not list(tmp_path.rglob("ran"))
