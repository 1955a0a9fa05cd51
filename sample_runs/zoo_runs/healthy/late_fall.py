"""A task that is not learned for long and then all at once: the parity of some bits."""

import torch
from torch import nn

from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe

BITS = 12


def prepare(recipe: Recipe) -> None:
    """Parity of three of twelve bits, with SGD."""
    s = recipe.settings
    s.steps, s.learning_rate, s.batch_size = 2500, 0.1, 64
    s.optimizer, s.schedule, s.max_grad_norm, s.weight_decay = "sgd", "constant", None, 0.0
    s.extra = {"model": "mlp", "num_classes": 2}

    def parity(number: int) -> Batch:
        generator = torch.Generator().manual_seed(1_000_003 * s.seed + number)
        x = torch.randint(2, (s.batch_size, BITS), generator=generator).float() * 2 - 1
        return {"inputs": x, "labels": (x[:, :3].prod(dim=1) > 0).long()}

    recipe.build = lambda: nn.Sequential(nn.Linear(BITS, 64), nn.ReLU(), nn.Linear(64, 2))
    recipe.batch = parity
    recipe.validation = [parity(10_000_000 + n) for n in range(3)]
    recipe.eval_every = 250


def inject(recipe: Recipe, _: None) -> None:
    """The loss rests at ln 2 for a good part of the run and then falls."""


FAULT = Fault(
    name="late_fall",
    cause="no_failure",
    prepare=prepare,
    inject=inject,
    outcomes=("healthy",),
    outcome="healthy",
    tuning={"mlp": None},
    measured={"cnn": None},
)
