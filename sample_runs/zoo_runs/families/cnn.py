"""A convolutional classifier with batch normalisation."""

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from zoo_runs.families.images import CLASSES, images
from zoo_runs.recipe import Batch, Recipe, Settings


def network(*, normalised: bool = True, width: int = 16) -> nn.Sequential:
    """Two convolutions and a head."""

    def norm() -> nn.Module:
        return nn.BatchNorm2d(width) if normalised else nn.Identity()

    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), norm(), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, width, 3, padding=1), norm(), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(width * 4, CLASSES),
    )  # fmt: skip


def class_loss(logits: Tensor, batch: Batch) -> Tensor:
    """Mean cross entropy, in nats."""
    return cross_entropy(logits, batch["labels"])


def recipe(seed: int) -> Recipe:
    """SGD with momentum on ten classes."""
    settings = Settings(
        optimizer="sgd",
        learning_rate=0.05,
        steps=400,
        batch_size=32,
        schedule="cosine",
        weight_decay=5e-4,
        max_grad_norm=None,
        seed=seed,
        extra={"model": "cnn_bn", "num_classes": CLASSES, "norm": "batchnorm"},
    )
    return Recipe(
        family="cnn",
        engine="loop",
        settings=settings,
        build=network,
        batch=lambda number: images(number, settings.batch_size, seed),
        forward=lambda model, batch: model(batch["inputs"]),
        criterion=class_loss,
        validation=[images(10_000_000 + n, 128, seed) for n in range(2)],
        classes=True,
        eval_every=50,
    )
