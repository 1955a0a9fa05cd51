"""A cross entropy written by hand: the logarithm of zero once the model is sure."""

import math

from tests.replay.runs._base import PlantedRun
from tests.replay.runs._training import Plan

REPLAY = """
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from project import points


def build_model():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))


def load_batch(step):
    x, score = points(step)
    return x + 0.3 * score.sign(), (score > 0).float()


def by_hand(logits, labels):
    p = torch.sigmoid(logits)
    return -(labels * torch.log(p) + (1 - labels) * torch.log(1 - p)).mean()


def compute_loss(model, batch):
    x, labels = batch
    return by_hand(model(x), labels)
"""

RUN = PlantedRun(
    name="unstable_loss_function",
    cause="unstable_loss_function",
    replay=REPLAY,
    plan=Plan(learning_rate=6e-3, steps=260, warmup_steps=20),
    harmed=lambda rows: math.isnan(rows[-1]["loss"]) and rows[60]["loss"] < 0.3,
    healthy_replay={"return by_hand(": "return binary_cross_entropy_with_logits("},
)
