"""Two gloo processes under torchrun: what they reduce, and a loss that goes round the wrapper."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

TRAINING = """
import os
import torch
from torch import nn

RANK = int(os.environ.get("RANK", "0"))
FIRST_STEP = 1


def build_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def load_batch(step, rank=RANK):
    generator = torch.Generator().manual_seed(1000 * step + rank)
    x = torch.randn(16, 4, generator=generator)
    return x, x[:, :1] * (1 + rank)


def compute_loss(model, batch):
    x, y = batch
    return ((MODEL(x) - y) ** 2).mean()
"""


def test_ranks_reduce_the_mean(tmp_path: Path) -> None:
    ranks = _replayed(tmp_path, TRAINING.replace("MODEL", "model"))
    assert ranks["world"] == 2
    assert ranks["weights_agree"]
    assert ranks["losses"][0] != ranks["losses"][1]
    assert ranks["reduced_norm"] == pytest.approx(ranks["mean_norm"], rel=1e-5)
    assert ranks["sum_norm"] == pytest.approx(ranks["logged_norm"], rel=1e-4)


def test_a_loss_that_goes_round_the_wrapper_is_seen(tmp_path: Path) -> None:
    ranks = _replayed(tmp_path, TRAINING.replace("MODEL", "getattr(model, 'module', model)"))
    assert not ranks["weights_agree"]


def _replayed(folder: Path, text: str) -> dict[str, Any]:
    """The replay's account of the ranks, of a run that added their gradients up."""
    (folder / "replay.py").write_text(text)
    run = folder / "run"
    _train(run)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    command += ["-m", "forensics", "replay", str(run), "--replay", str(folder / "replay.py")]
    command += ["--step", "20", "--budget", "60", "--json", str(folder / "out.json"), "-q"]
    done = subprocess.run(
        command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads((folder / "out.json").read_text())["ranks"])


def _train(run: Path) -> None:
    """Both ranks in one process: their gradients are added where they should be averaged."""
    (run / "checkpoints").mkdir(parents=True)
    (run / "config.json").write_text(json.dumps({"world_size": 2, "lr": 0.01, "optimizer": "sgd"}))
    space: dict[str, Any] = {}
    exec(TRAINING.replace("MODEL", "model"), space)
    model: nn.Module = space["build_model"]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    rows = ["step,loss,grad_norm,lr"]
    for step in range(1, 41):
        optimizer.zero_grad()
        losses = [space["compute_loss"](model, space["load_batch"](step, r)) for r in (0, 1)]
        torch.stack(losses).sum().backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
        optimizer.step()
        mean = float(torch.stack(losses).detach().mean())
        rows.append(f"{step},{mean!r},{float(norm)!r},0.01")
        if step == 10:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, run / "checkpoints" / "step_10.pt")
    (run / "metrics.csv").write_text("\n".join(rows) + "\n")
