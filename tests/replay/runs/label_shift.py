"""A good model fine-tuned on labels that were shifted by the loader and again by the loss."""

import torch

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import PROJECT, Plan, loaded, optimizer_of, train

REPLAY = '''
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy
from project import TinyLm, sentences


def build_model():
    model = TinyLm()
    model.load_state_dict(torch.load(Path(__file__).parent / "pretrained.pt"))
    return model


def load_batch(step):
    ids = sentences(step, size=16, length=18)
    return {"input_ids": ids[:, :-1], "labels": ids[:, 1:]}


def compute_loss(model, batch):
    """Shifts the labels itself, as models of the hub do."""
    logits = model(batch["input_ids"])[:, :-1]
    return cross_entropy(logits.flatten(0, 1), batch["labels"][:, 1:].flatten())
'''


def pretrained(text, plan, folder):
    """Trains the model the right way round first."""
    torch.manual_seed(5)
    with loaded(PROJECT) as project:
        model = project.TinyLm()
        optimizer = optimizer_of(model, Plan(learning_rate=1e-2, steps=0))
        for step in range(200):
            loss = project.next_token_loss(model, project.sentences(10_000 + step))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    torch.save(model.state_dict(), folder / "pretrained.pt")
    return train(text, plan, folder)


RUN = PlantedRun(
    name="label_shift",
    cause="label_misalignment",
    replay=REPLAY,
    plan=Plan(learning_rate=3e-4, steps=200, warmup_steps=10),
    harmed=lambda rows: rows[0]["loss"] > 3.0 and median_loss(rows, 150, 200) > 2.5,
    healthy_replay={'"labels": ids[:, 1:]': '"labels": ids[:, :-1]'},
    training=pretrained,
)
