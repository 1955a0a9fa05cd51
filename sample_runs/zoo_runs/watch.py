"""What really happened in a training, at every step, whatever the run itself logged of it."""

import json
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Saved:
    """One checkpoint."""

    step: int
    path: str
    finite: bool


@dataclass
class Watch:
    """The truth about one training; one entry a step, resumed steps overwritten."""

    losses: dict[int, float] = field(default_factory=dict)
    norms: dict[int, float] = field(default_factory=dict)
    """Gradient norm before clipping."""
    validation: dict[int, float] = field(default_factory=dict)
    saved: list[Saved] = field(default_factory=list)
    extra: dict[str, list[float]] = field(default_factory=dict)
    """What else the recipe measures, a value a step."""
    error: str = ""
    """Type of the exception that ended it."""

    def to_json(self) -> str:
        """The curves, to be kept; not the checkpoints."""
        return json.dumps([list(self.losses.items()), list(self.validation.items()), self.extra])

    @classmethod
    def from_json(cls, text: str) -> "Watch":
        """The curves as kept."""
        losses, validation, extra = json.loads(text)
        return cls(losses=dict(losses), validation=dict(validation), extra=extra)


def is_finite(*states: Any) -> bool:
    """True where every tensor in nested states is finite."""
    for state in states:
        if isinstance(state, torch.Tensor):
            if state.is_floating_point() and not bool(torch.isfinite(state).all()):
                return False
        elif isinstance(state, dict):
            if not is_finite(*state.values()):
                return False
        elif isinstance(state, list | tuple) and not is_finite(*state):
            return False
    return True
