"""Inputs that were silent become loud: Adam's second moment still holds the silence."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = """
import torch
from torch import nn
from torch.nn.functional import mse_loss

torch.set_num_threads(1)


def build_model():
    model = nn.Linear(72, 1)
    nn.init.zeros_(model.weight)
    return model


def load_batch(step):
    draw = torch.Generator().manual_seed(step)
    x = torch.randn(64, 72, generator=draw)
    y = x[:, :8].sum(1, keepdim=True) + 0.3 * torch.randn(64, 1, generator=draw)
    x[:, 8:] *= step > 301  # sensors that were not yet connected
    return x, y


def compute_loss(model, batch):
    x, y = batch
    return mse_loss(model(x), y)
"""

RUN = PlantedRun(
    name="stale_second_moment",
    cause="adam_instability",
    replay=REPLAY,
    plan=Plan(learning_rate=1.2e-1, steps=400, warmup_steps=20),
    harmed=lambda rows: max(r["loss"] for r in rows[290:]) > 15 * median_loss(rows, 250, 300),
    healthy_plan={"betas": (0.9, 0.95)},
)
