"""Small images: each class a pattern, moved about and under noise."""

from functools import cache

import torch
from torch import Tensor

from zoo_runs.recipe import Batch

CLASSES, SIDE = 10, 10


@cache
def patterns(seed: int) -> Tensor:
    """One pattern a class, (classes, side, side)."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.randn(CLASSES, 1, 5, 5, generator=generator)
    return torch.nn.functional.interpolate(coarse, size=SIDE, mode="nearest")[:, 0]


def images(number: int, size: int, seed: int, noise: float = 1.4) -> Batch:
    """Batch ``number``: images (size, 1, side, side) of mean 0 and deviation about 1, classes."""
    generator = torch.Generator().manual_seed(1_000_003 * seed + number)
    labels = torch.randint(CLASSES, (size,), generator=generator)
    shift = torch.randint(-1, 2, (size,), generator=generator)
    base = patterns(seed)[labels]
    moved = torch.stack([torch.roll(x, int(s), dims=-1) for x, s in zip(base, shift, strict=True)])
    x = moved + noise * torch.randn(moved.shape, generator=generator)
    return {"inputs": x[:, None] / (1 + noise**2) ** 0.5, "labels": labels}
