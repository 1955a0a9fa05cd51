"""The rate raised tenfold in the middle of a healthy run."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = """
from project import TinyLm, next_token_loss, sentences


def build_model():
    return TinyLm()


def load_batch(step):
    return sentences(step)


def compute_loss(model, batch):
    return next_token_loss(model, batch)
"""

RUN = PlantedRun(
    name="lr_too_high",
    cause="learning_rate_too_high",
    replay=REPLAY,
    plan=Plan(learning_rate=1e-2, steps=260, warmup_steps=20, raised_at=121, raised_by=100.0),
    harmed=lambda rows: median_loss(rows, 200, 260) > 1.5 * median_loss(rows, 100, 120),
    healthy_plan={"raised_by": 1.0},
)
