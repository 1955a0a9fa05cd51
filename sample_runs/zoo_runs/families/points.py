"""Twenty-dimensional points in four classes, bounded by products of coordinates."""

import torch

from zoo_runs.recipe import Batch

CLASSES, WIDTH = 4, 20


def points(number: int, size: int, seed: int, noise: float = 0.02) -> Batch:
    """Batch ``number``: points (size, 20) and classes; a share ``noise`` is drawn anew."""
    generator = torch.Generator().manual_seed(1_000_003 * seed + number)
    x = torch.randn(size, WIDTH, generator=generator)
    score = torch.stack([x[:, k] * x[:, k + 4] + 1.5 * x[:, k + 8] for k in range(CLASSES)], dim=1)
    redrawn = torch.rand(size, generator=generator) < noise
    labels = torch.where(
        redrawn, torch.randint(CLASSES, (size,), generator=generator), score.argmax(dim=1)
    )
    return {"inputs": x, "labels": labels}
