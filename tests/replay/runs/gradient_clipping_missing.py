"""A recurrent network of ReLUs without gradient clipping: one step off a cliff."""

from tests.replay.runs._base import PlantedRun, median_loss
from tests.replay.runs._training import Plan

REPLAY = '''
import torch
from torch import nn
from torch.nn.functional import mse_loss

LENGTH = 30


class Adder(nn.Module):
    """Starts as an accumulator (arXiv 1504.00941)."""

    def __init__(self):
        super().__init__()
        self.cell = nn.RNN(2, 32, batch_first=True, nonlinearity="relu")
        self.head = nn.Linear(32, 1)
        with torch.no_grad():
            nn.init.eye_(self.cell.weight_hh_l0)
            self.cell.bias_hh_l0.zero_()
            self.cell.bias_ih_l0.zero_()
            self.cell.weight_ih_l0.normal_(0, 0.1)

    def forward(self, x):
        return self.head(self.cell(x)[0][:, -1])


def build_model():
    return Adder()


def load_batch(step):
    """Numbers, two of which are marked, and the sum of those two."""
    draw = torch.Generator().manual_seed(step)
    numbers, marks = torch.rand(8, LENGTH, generator=draw), torch.zeros(8, LENGTH)
    first = torch.randint(LENGTH // 2, (8, 1), generator=draw)
    second = LENGTH // 2 + torch.randint(LENGTH // 2, (8, 1), generator=draw)
    marks.scatter_(1, first, 1.0).scatter_(1, second, 1.0)
    return torch.stack([numbers, marks], 2), (numbers * marks).sum(1, keepdim=True)


def compute_loss(model, batch):
    x, y = batch
    return mse_loss(model(x), y)
'''

RUN = PlantedRun(
    name="gradient_clipping_missing",
    cause="gradient_clipping_missing",
    replay=REPLAY,
    plan=Plan(
        learning_rate=2e-2, steps=200, optimizer="sgd", warmup_steps=30, seed=2, save_every=20
    ),
    harmed=lambda rows: max(r["loss"] for r in rows[40:]) > 5 * median_loss(rows, 40, 200),
    healthy_plan={"max_grad_norm": 1.0},
)
