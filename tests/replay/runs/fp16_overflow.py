"""A sum in 16 bits that overflows once the model has learned how large it has to be."""

import math

from tests.replay.runs._base import PlantedRun
from tests.replay.runs._training import Plan

REPLAY = '''
import torch
from torch import nn

torch.set_num_threads(1)
POSITIONS = 64


class Totals(nn.Module):
    """Adds up what each position contributes."""

    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return (500 * self.parts(x)).sum(1)


def build_model():
    return Totals()


def load_batch(step):
    draw = torch.Generator().manual_seed(step)
    size = torch.exp(0.3 * torch.randn(24, 1, 1, generator=draw))
    x = torch.randn(24, POSITIONS, 4, generator=draw).abs() * size
    return x, (500 * x[..., :1] + 300 * x[..., 1:2] ** 2).sum(1)


def compute_loss(model, batch):
    x, totals = batch
    return ((model(x) - totals) / 1e4).pow(2).mean()
'''

RUN = PlantedRun(
    name="fp16_overflow",
    cause="fp16_overflow",
    replay=REPLAY,
    plan=Plan(learning_rate=5e-3, steps=240, warmup_steps=60, precision="fp16"),
    harmed=lambda rows: not math.isfinite(rows[-1]["loss"]) and rows[40]["loss"] < rows[0]["loss"],
    healthy_plan={"precision": "fp32"},
)
