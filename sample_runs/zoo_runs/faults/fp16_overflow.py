"""Sums that outgrow half precision: every step overflows and the loss scale collapses."""

import torch
from torch import Tensor, nn

from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe

POSITIONS = 256


class Sums(nn.Module):
    """Adds up what each position contributes."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(batch, positions, 4) to (batch, 1)."""
        return self.layers(x).sum(dim=1)


def sequences(number: int, size: int, seed: int, unit: float) -> Batch:
    """Inputs (size, positions, 4) and totals (size, 1) of some tens of thousands."""
    generator = torch.Generator().manual_seed(1_000_003 * seed + number)
    spread = torch.exp(0.3 * torch.randn(size, 1, 1, generator=generator))
    x = torch.randn(size, POSITIONS, 4, generator=generator).abs() * spread
    total = unit * (70 * x[..., 0] * x[..., 1] + 40 * x[..., 2]).sum(dim=1)
    return {"inputs": x, "labels": total[:, None]}


def prepare(recipe: Recipe) -> None:
    """A sum over positions, with a loss in units of 10,000."""
    s = recipe.settings
    unit = 2.0 if recipe.family == "regression" else 3.0
    recipe.build = Sums
    recipe.batch = lambda number: sequences(number, s.batch_size, s.seed, unit)
    recipe.criterion = lambda out, batch: ((out.float() - batch["labels"]) / 1e4).square().mean()
    recipe.validation = [recipe.batch(10_000_000)]
    recipe.classes = False
    s.optimizer, s.learning_rate, s.steps, s.batch_size = "adam", 2e-3, 500, 32
    s.extra = {"model": "sum_of_contributions", "loss": "mse"}


def inject(recipe: Recipe, precision: str) -> None:
    """Mixed precision in float16: the model's sums grow beyond 65504."""
    recipe.settings.precision = precision


FAULT = Fault(
    name="half_precision_sums",
    cause="fp16_overflow",
    prepare=prepare,
    inject=inject,
    outcomes=("non_finite", "stalled", "spiked_unrecovered", "diverged"),
    tuning={"regression": "fp16"},
    measured={"mlp": "fp16"},
    seeds=2,
    accept=("input_scale",),
)
