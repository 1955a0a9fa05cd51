"""A classifier of points with two hidden layers."""

from torch import nn

from zoo_runs.families.cnn import class_loss
from zoo_runs.families.points import CLASSES, WIDTH, points
from zoo_runs.recipe import Recipe, Settings


def network(hidden: int = 64) -> nn.Sequential:
    """ReLU network from points to logits."""
    return nn.Sequential(
        nn.Linear(WIDTH, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
        nn.Linear(hidden, CLASSES),
    )  # fmt: skip


def recipe(seed: int) -> Recipe:
    """Adam on four classes."""
    settings = Settings(
        optimizer="adam",
        learning_rate=3e-3,
        steps=700,
        batch_size=64,
        weight_decay=0.0,
        seed=seed,
        extra={"model": "mlp", "hidden_size": 64, "num_classes": CLASSES},
    )
    return Recipe(
        family="mlp",
        engine="loop",
        settings=settings,
        build=network,
        batch=lambda number: points(number, settings.batch_size, seed),
        forward=lambda model, batch: model(batch["inputs"]),
        criterion=class_loss,
        validation=[points(10_000_000, 500, seed)],
        classes=True,
        eval_every=100,
    )
