"""Norms of gradients, measured on their device without waiting for it."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True, eq=False)
class GradientNorms:
    """L2 norms of the gradients of one step, on their device."""

    names: tuple[str, ...]
    each: torch.Tensor
    """Shape (len(names),), float32."""

    @property
    def total(self) -> torch.Tensor:
        """Norm of all together, shape ()."""
        total: torch.Tensor = self.each.norm()
        return total

    def by_name(self) -> dict[str, float]:
        """Name -> norm; waits for the device."""
        return dict(zip(self.names, self.each.tolist(), strict=True))


def gradient_norms(model: nn.Module, scaler: Any = None) -> GradientNorms | None:
    """Norms of each parameter's gradient, None where there is no dense one.

    Of sharded gradients each rank measures its own part.

    Args:
        model: After its backward pass.
        scaler: The GradScaler whose scale the gradients still carry.
    """
    found = {n: p.grad for n, p in model.named_parameters() if p.grad is not None}
    local = {n: g.to_local() if hasattr(g, "to_local") else g for n, g in found.items()}
    dense = {n: g.detach() for n, g in local.items() if g.layout is torch.strided}
    if not dense:
        return None
    norms = torch._foreach_norm(list(dense.values()), 2, dtype=torch.float32)
    each = torch.stack([norm.to(norms[0].device) for norm in norms])
    if scaler is not None:
        each = each / scaler.scale(torch.ones((), device=each.device))
    return GradientNorms(tuple(map(_plain, dense)), each)


def _plain(name: str) -> str:
    """A parameter's name without what DDP and torch.compile wrap around the model."""
    return name.replace("_orig_mod.", "").removeprefix("module.")
