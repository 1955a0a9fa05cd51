"""A batch of which every label is masked: the mean of nothing."""

import math

from tests.replay.runs._base import PlantedRun
from tests.replay.runs._training import Plan

REPLAY = """
import torch
from torch.nn.functional import cross_entropy
from project import TinyLm, sentences

MASKED = 131


def build_model():
    return TinyLm()


def load_batch(step):
    ids = sentences(step)
    mask = torch.ones(ids[:, 1:].shape)
    mask[:, :8] = 0.0  # the prompt
    if step == MASKED:
        mask[:] = 0.0  # prompts that fill the whole context
    return {"input_ids": ids[:, :-1], "labels": ids[:, 1:], "loss_mask": mask}


def compute_loss(model, batch):
    logits, mask = model(batch["input_ids"]), batch["loss_mask"]
    losses = cross_entropy(logits.transpose(1, 2), batch["labels"], reduction="none")
    return (losses * mask).sum() / mask.sum()
"""

RUN = PlantedRun(
    name="labels_all_masked",
    cause="labels_all_masked",
    replay=REPLAY,
    plan=Plan(learning_rate=1e-2, steps=200, warmup_steps=20),
    harmed=lambda rows: math.isnan(rows[130]["loss"]) and math.isnan(rows[-1]["loss"]),
    healthy_replay={"MASKED = 131": "MASKED = None"},
)
