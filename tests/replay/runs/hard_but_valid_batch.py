"""A batch of a rare kind of text, which the model can learn and has hardly seen."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = '''
import torch
from project import TinyLm, next_token_loss

RARE_ONLY = 131


def build_model():
    return TinyLm()


def counting(step, size, tokens, first, jumps):
    """A language that counts up and now and then jumps."""
    draw = torch.Generator().manual_seed(step)
    jump = torch.rand(size, 17, generator=draw) < jumps
    moves = jump * torch.randint(tokens, (size, 17), generator=draw)
    return first + (torch.arange(17) + moves.cumsum(1)) % tokens


def rare(step, size):
    return counting(step, size, tokens=8, first=24, jumps=0.5)


def load_batch(step):
    if step == RARE_ONLY:
        return rare(step, 16)
    ids = counting(step, 16, tokens=24, first=0, jumps=0.2)
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
    plan=Plan(learning_rate=1e-2, steps=200, warmup_steps=20, save_every=26),
    harmed=lambda rows: rows[130]["loss"] > 2 * median_loss(rows, 100, 130),
    healthy_replay={"RARE_ONLY = 131": "RARE_ONLY = None"},
)
