"""The replay file of `torch_bad_batch`: its model, its batches, its loss."""

from functools import cache
from itertools import islice

import torch

from corpus import blocks, prose
from loop import Plan, next_token_loss, random_batches
from transformer import Transformer

STEPS, DAMAGED_STEP = 600, 317


@cache
def batches():
    """Every batch the run saw, the first at 0; reading them in order costs nothing."""
    plan = Plan(optimizer="adamw", learning_rate=1e-2, steps=STEPS, batch_size=16)
    seen = list(islice(random_batches(blocks(prose(1, 4000), 65), plan), STEPS))
    noise = torch.Generator().manual_seed(7)
    seen[DAMAGED_STEP - 1] = torch.randint(32, 127, seen[0].shape, generator=noise)
    return seen


def build_model():
    """Architecture only: the weights come from the checkpoint."""
    torch.set_num_threads(1)
    return Transformer(width=32, layers=3, length=64)


def load_batch(step):
    """The batch whose loss the run logged as ``step``."""
    return batches()[step - 1]


def compute_loss(model, batch):
    """The scalar training loss."""
    return next_token_loss(model, batch)
