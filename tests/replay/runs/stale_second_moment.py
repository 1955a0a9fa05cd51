"""Adam on a small regression: the second moment decays with the gradients, until they come back."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = '''
import torch
from torch import nn
from torch.nn.functional import mse_loss


def build_model():
    hidden = [nn.Linear(1, 50), nn.Tanh(), nn.Linear(50, 50), nn.Tanh()]
    return nn.Sequential(*hidden, nn.Linear(50, 1))


def load_batch(step):
    """All points, in every step."""
    x = torch.linspace(-3, 3, 32)[:, None]
    return x, torch.sin(x) + 0.3 * torch.sin(4 * x)


def compute_loss(model, batch):
    x, y = batch
    return mse_loss(model(x), y)
'''

RUN = PlantedRun(
    name="stale_second_moment",
    cause="adam_instability",
    replay=REPLAY,
    plan=Plan(learning_rate=2e-2, steps=900, optimizer="adamw"),
    harmed=lambda rows: max(r["loss"] for r in rows[400:]) > 10 * median_loss(rows, 300, 900),
    healthy_plan={"betas": (0.9, 0.95)},
)
