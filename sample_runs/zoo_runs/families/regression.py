"""A regression on four inputs."""

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from zoo_runs.recipe import Batch, Recipe, Settings

INPUTS = 4


def samples(number: int, size: int, seed: int) -> Batch:
    """Batch ``number``: inputs (size, 4) and a smooth function of them, (size, 1)."""
    generator = torch.Generator().manual_seed(1_000_003 * seed + number)
    x = torch.rand(size, INPUTS, generator=generator) * 4 - 2
    y = torch.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * x[:, 3] ** 2
    noise = 0.05 * torch.randn(size, generator=generator)
    return {"inputs": x, "labels": ((y - 0.6) / 1.7 + noise)[:, None]}


def network(hidden: int = 48) -> nn.Sequential:
    """ReLU network with two hidden layers."""
    return nn.Sequential(
        nn.Linear(INPUTS, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
        nn.Linear(hidden, 1),
    )  # fmt: skip


def squared_error(outputs: Tensor, batch: Batch) -> Tensor:
    """Mean squared error."""
    return mse_loss(outputs, batch["labels"])


def recipe(seed: int) -> Recipe:
    """Adam on a mean squared error."""
    settings = Settings(
        optimizer="adam",
        learning_rate=3e-3,
        steps=1000,
        batch_size=32,
        schedule="linear",
        weight_decay=0.0,
        seed=seed,
        extra={"model": "mlp_regressor", "hidden_size": 48, "loss": "mse"},
    )
    return Recipe(
        family="regression",
        engine="loop",
        settings=settings,
        build=network,
        batch=lambda number: samples(number, settings.batch_size, seed),
        forward=lambda model, batch: model(batch["inputs"]),
        criterion=squared_error,
        validation=[samples(10_000_000, 500, seed)],
        eval_every=100,
    )
