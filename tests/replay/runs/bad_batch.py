"""A batch of random tokens among the text."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = """
import torch
from project import VOCAB, TinyLm, next_token_loss, sentences

CORRUPTED = 131


def build_model():
    return TinyLm()


def load_batch(step):
    ids = sentences(step)
    if step == CORRUPTED:
        ids = torch.randint(VOCAB, ids.shape, generator=torch.Generator().manual_seed(step))
    return ids


def compute_loss(model, batch):
    return next_token_loss(model, batch)
"""

RUN = PlantedRun(
    name="bad_batch",
    cause="bad_batch",
    replay=REPLAY,
    plan=Plan(learning_rate=3e-2, steps=200, warmup_steps=20),
    harmed=lambda rows: rows[130]["loss"] > 1.5 * median_loss(rows, 100, 130),
    healthy_replay={"CORRUPTED = 131": "CORRUPTED = None"},
)
