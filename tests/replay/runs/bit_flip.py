"""One bit of one weight, flipped in memory."""

import math

import torch

from tests.replay.runs._base import PlantedRun
from tests.replay.runs._training import Plan, _nothing
from tests.replay.runs.lr_too_high import REPLAY


def flip(step, model, optimizer):
    if step == 131:
        with torch.no_grad():
            model.head.weight.view(torch.int32)[5, 7] ^= 1 << 30


RUN = PlantedRun(
    name="bit_flip",
    cause="hardware_fault",
    replay=REPLAY,
    plan=Plan(learning_rate=1e-2, steps=180, warmup_steps=20, before_step=flip),
    harmed=lambda rows: not math.isfinite(rows[-1]["loss"]),
    healthy_plan={"before_step": _nothing},
)
