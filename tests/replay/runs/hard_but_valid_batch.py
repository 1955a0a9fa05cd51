"""A batch of a rare kind of text, which the model can learn and has hardly seen."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = '''
import torch
from project import TinyLm, next_token_loss, sentences

RARE_ONLY = 131


def build_model():
    return TinyLm()


def rare(step, size):
    """Another language, of eight tokens that count up and now and then jump."""
    draw = torch.Generator().manual_seed(step)
    jumps = torch.rand(size, 17, generator=draw) < 0.5
    moves = jumps * torch.randint(8, (size, 17), generator=draw)
    return 24 + (torch.arange(17) + moves.cumsum(1)) % 8


def load_batch(step):
    ids = sentences(step) % 24
    if step == RARE_ONLY:
        return rare(step, 16)
    if step % 22 == 0:
        ids[:1] = rare(step, 1)
    return ids


def compute_loss(model, batch):
    return next_token_loss(model, batch)
'''

RUN = PlantedRun(
    name="hard_but_valid_batch",
    cause="hard_but_valid_batch",
    replay=REPLAY,
    plan=Plan(learning_rate=1e-2, steps=200, warmup_steps=20),
    harmed=lambda rows: rows[130]["loss"] > 1.2 * median_loss(rows, 100, 130),
    healthy_replay={"RARE_ONLY = 131": "RARE_ONLY = None"},
)
