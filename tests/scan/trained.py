"""Small real trainings whose checkpoints are surveyed; each test changes one thing."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forensics.case import Case
from forensics.checkpoint_facts import CheckpointSurvey
from forensics.checkpoints import discover
from forensics.run import Config
from forensics.scan.moments import survey
from forensics.scan.series import ScanMode
from forensics.tree import grow
from tests.causes.cases import make_case

torch = pytest.importorskip("torch")
STEPS = (40, 80, 120)

Change = Callable[[int, dict[str, Any]], None]
"""Called with the step and what is about to be saved."""


def model() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.Linear(64, 4)
    )


def train(
    root: Path,
    change: Change = lambda step, save: None,
    *,
    net: Any = None,
    clip: float | None = None,
    scale: float = 1.0,
    each_step: Callable[[int, Any, Any], None] = lambda step, net, optimizer: None,
    **adam: Any,
) -> Path:
    """Train on noise and save at `STEPS`; gradients are clipped before they are unscaled."""
    net = model() if net is None else net
    wanted = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(wanted, lr=1e-3, **adam)
    for step in range(1, STEPS[-1] + 1):
        x = torch.randn(32, 16)
        loss = scale * ((net(x) - x[:, :4].roll(1, 1)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(wanted, clip)
        for parameter in wanted:
            if parameter.grad is not None:
                parameter.grad /= scale
        optimizer.step()
        each_step(step, net, optimizer)
        if step in STEPS:
            save = {
                "model": {k: v.clone() for k, v in net.state_dict().items()},
                "optimizer": _copy(optimizer.state_dict()),
                "step": step,
            }
            change(step, save)
            torch.save(save, root / f"step_{step:06}.pt")
    return root


def _copy(state: dict[str, Any]) -> dict[str, Any]:
    slots = {
        key: {name: value.clone() for name, value in held.items()}
        for key, held in state["state"].items()
    }
    return {"state": slots, "param_groups": state["param_groups"]}


def surveyed(root: Path, mode: ScanMode = ScanMode.ALL) -> CheckpointSurvey:
    found = survey(root, discover(grow(root)).checkpoints, mode)
    assert found is not None
    return found


def case_of(root: Path, *, onset: int | None = None, **config: Any) -> Case:
    """A case of which only the checkpoints are known."""
    case = make_case([1.0] * STEPS[-1], config=Config(**config), onset=onset)
    found = discover(grow(root)).checkpoints
    run = replace(case.run, path=root, checkpoints=found)
    return replace(case, run=run, survey=surveyed(root))
