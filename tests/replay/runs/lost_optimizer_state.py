"""A resume that loads the weights and not the optimizer's state."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = """
from torch import nn
from torch.nn.functional import mse_loss
from project import points


def build_model():
    hidden = [nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()]
    return nn.Sequential(*hidden, nn.Linear(64, 1))


def load_batch(step):
    return points(step)


def compute_loss(model, batch):
    x, y = batch
    return mse_loss(model(x), y)
"""

RUN = PlantedRun(
    name="lost_optimizer_state",
    cause="resume_state_lost",
    replay=REPLAY,
    plan=Plan(learning_rate=3e-2, steps=320, warmup_steps=20, resumed_at=251),
    harmed=lambda rows: median_loss(rows, 252, 262) > 2.5 * median_loss(rows, 220, 250),
    healthy_plan={"resumed_state": True},
)
