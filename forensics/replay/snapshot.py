"""A training's state, kept on the CPU to be put back as often as it is needed."""

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Weights, optimizer, loss scale and random numbers at one point; tensors on the CPU."""

    weights: dict[str, torch.Tensor]
    optimizer: dict[str, Any]
    scale: float | None
    """Of the gradient scaler; None: none is used."""
    rng: torch.Tensor | None
    """State of torch's CPU generator; None: it was not saved."""

    @classmethod
    def take(
        cls,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        scale: float | None,
        rng: torch.Tensor | None,
    ) -> "Snapshot":
        """Copy the state as it is now."""
        return cls(_on_cpu(model.state_dict()), _copied(optimizer.state_dict()), scale, rng)

    def put_back(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Load copies of weights and optimizer state."""
        model.load_state_dict(self.weights)
        optimizer.load_state_dict(_copied(self.optimizer))


def _on_cpu(state: dict[str, Any]) -> dict[str, Any]:
    return {
        k: v.detach().to("cpu", copy=True) if isinstance(v, torch.Tensor) else copy.deepcopy(v)
        for k, v in state.items()
    }


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    """An optimizer's state dict on the CPU, sharing nothing with it."""
    return {
        "state": {index: _on_cpu(s) for index, s in state["state"].items()},
        "param_groups": copy.deepcopy(state["param_groups"]),
    }
