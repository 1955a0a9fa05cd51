"""BatchNorm over one sample: what it learns about the data does not hold in evaluation."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = '''
import torch
from torch import nn
from torch.nn.functional import cross_entropy

torch.set_num_threads(1)
SIZE = 1


def build_model():
    return nn.Sequential(
        nn.Conv1d(1, 12, 5),
        nn.BatchNorm1d(12),
        nn.ReLU(),
        nn.Conv1d(12, 12, 5),
        nn.ReLU(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(12, 4),
    )


def waves(seed, size):
    """Four frequencies, each around a level of its own."""
    draw = torch.Generator().manual_seed(seed)
    kinds = torch.randint(4, (size,), generator=draw)
    phase = 6.3 * torch.rand(size, 1, generator=draw)
    wave = torch.sin(torch.arange(32) * (0.4 + 0.5 * kinds[:, None]) + phase)
    offset = 3.0 * torch.randn(size, 1, generator=draw)
    return (wave + offset).unsqueeze(1), kinds


def load_batch(step):
    return waves(step, 8)


def compute_loss(model, batch):
    """The mean over micro-batches that fit the memory."""
    parts = zip(*(part.split(SIZE) for part in batch))
    losses = [cross_entropy(model(signal), kinds) for signal, kinds in parts]
    return torch.stack(losses).mean()


def evaluate(model):
    signal, kinds = waves(10**6, 256)
    model.eval()
    with torch.no_grad():
        return cross_entropy(model(signal), kinds).item()
'''

RUN = PlantedRun(
    name="batchnorm_tiny_batches",
    cause="batchnorm_instability",
    replay=REPLAY,
    plan=Plan(learning_rate=1e-2, steps=240, evaluate_every=20, save_every=100),
    harmed=lambda rows: rows[-1]["val_loss"] > 3 * median_loss(rows, 200, 240),
    healthy_replay={"SIZE = 1": "SIZE = 8"},
)
