"""Two ranks whose gradients are added up instead of averaged."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan, prepared, write_log

REPLAY = '''
from torch import nn
from torch.nn.functional import mse_loss
from project import points


def build_model():
    hidden = [nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()]
    return nn.Sequential(*hidden, nn.Linear(64, 1))


def load_batch(step):
    """The whole batch, of which each rank took its half."""
    return points(step)


def compute_loss(model, batch):
    x, y = batch
    return mse_loss(model(x), y)
'''


def on_two_ranks(text, plan, folder):
    """Two processes that reduce their gradients over gloo; rank 0 keeps the log."""
    prepared(text, plan, folder)
    settings = json.dumps({**asdict(plan), "before_step": None})
    command = [sys.executable, "-B", str(Path(__file__).parent / "_rank.py"), str(folder), settings]
    ranks = [subprocess.Popen([*command, str(rank)]) for rank in range(plan.world_size)]
    assert [rank.wait(120) for rank in ranks] == [0] * plan.world_size
    rows = json.loads((folder / "rows.json").read_text())
    write_log(rows, folder / "run")
    return rows


RUN = PlantedRun(
    name="sum_over_ranks",
    cause="distributed_reduction",
    replay=REPLAY,
    plan=Plan(
        learning_rate=0.18,
        steps=120,
        optimizer="sgd",
        warmup_steps=40,
        world_size=2,
        divided=False,
    ),
    harmed=lambda rows: not median_loss(rows, 100, 120) < 2.0,
    healthy_plan={"divided": True},
    training=on_two_ranks,
)
