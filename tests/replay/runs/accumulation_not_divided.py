"""Eight micro-batches whose losses are added up instead of averaged."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = '''
from project import TinyLm, next_token_loss, sentences


def build_model():
    return TinyLm()


def load_batch(step):
    """The whole effective batch: the micro-batches one after the other."""
    return sentences(step, size=16)


def compute_loss(model, batch):
    return next_token_loss(model, batch)
'''

RUN = PlantedRun(
    name="accumulation_not_divided",
    cause="gradient_accumulation_scaling",
    replay=REPLAY,
    plan=Plan(
        learning_rate=0.8,
        steps=150,
        optimizer="sgd",
        warmup_steps=20,
        accumulation=8,
        divided=False,
    ),
    harmed=lambda rows: not median_loss(rows, 120, 150) < 3.0,
    healthy_plan={"divided": True},
)
