"""Momentum SGD at its full rate from the first step, where the curvature is still high."""

import math

from tests.replay.runs._base import PlantedRun
from tests.replay.runs._training import Plan

REPLAY = """
from torch import nn
from torch.nn.functional import mse_loss
from project import points


def build_model():
    layers = []
    for inputs in (16, 48, 48, 48):
        layers += [nn.Linear(inputs, 48), nn.ReLU()]
        nn.init.kaiming_normal_(layers[-2].weight, nonlinearity="relu")
    return nn.Sequential(*layers, nn.Linear(48, 1))


def load_batch(step):
    return points(step)


def compute_loss(model, batch):
    x, y = batch
    return mse_loss(model(x), y)
"""

RUN = PlantedRun(
    name="warmup_missing",
    cause="warmup_missing",
    replay=REPLAY,
    plan=Plan(learning_rate=2.5e-2, steps=300, optimizer="sgd", momentum=0.9),
    harmed=lambda rows: not math.isfinite(rows[-1]["loss"]),
    healthy_plan={"warmup_steps": 60},
)
