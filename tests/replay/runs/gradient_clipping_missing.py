"""Heavy-tailed targets and no clipping: now and then one gradient throws the model out for good."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = """
import torch
from torch import nn
from torch.nn.functional import mse_loss

torch.set_num_threads(1)
RARE, SEED = 0.03, 5


def build_model():
    return nn.Sequential(
        nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)
    )


def load_batch(step):
    generator = torch.Generator().manual_seed(1000 * SEED + step)
    x = torch.randn(64, 8, generator=generator)
    y = torch.sin(x[:, :1] + x[:, 1:2]) + 0.1 * torch.randn(64, 1, generator=generator)
    if torch.rand((), generator=generator) < RARE:
        y[0] = 600.0  # a claim of a size that comes once in two thousand
    return x, y


def compute_loss(model, batch):
    x, y = batch
    return mse_loss(model(x), y)
"""

RUN = PlantedRun(
    name="gradient_clipping_missing",
    cause="gradient_clipping_missing",
    replay=REPLAY,
    plan=Plan(learning_rate=0.1, steps=300, optimizer="sgd", momentum=0.9, save_every=25),
    harmed=lambda rows: not median_loss(rows, 250, 300) < 3 * median_loss(rows, 60, 90),
    healthy_plan={"max_grad_norm": 1.0},
)
