"""What a replayed stretch may change, and what one step gives."""

import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Knobs:
    """What one replayed stretch changes from the run's own settings."""

    rate: float = 1.0
    """Multiple of the learning rate."""
    warmup: int = 0
    """Steps over which the rate rises from zero, counted from the first one replayed."""
    clip: float | None = None
    """Threshold of the global norm in place of the run's; None: the run's own."""
    precision: str | None = None
    """In place of the run's, the user's own autocast included."""
    gradient_scale: float = 1.0
    """Multiple of every gradient before clipping."""
    skip: frozenset[int] = frozenset()
    """Steps left out."""
    beta2: float | None = None
    eps: float | None = None
    weight_decay: float | None = None
    fresh_moments: bool = False
    from_step_one: bool = False
    """Moments kept, bias correction counted from one."""


AS_RUN = Knobs()


@dataclass(frozen=True)
class StepResult:
    """One optimizer step."""

    loss: float
    grad_norm: float
    """Before clipping, after unscaling."""
    updated: bool = True
    """False where the loss scaler skipped it."""
    own_loss: float = math.nan
    """Of this rank alone, where there are several; ``loss`` is their mean."""


def turn(optimizer: torch.optim.Optimizer, knobs: Knobs) -> None:
    """Change the settings and the state of an optimizer as the knobs say."""
    if knobs.fresh_moments:
        optimizer.state.clear()
    for group in optimizer.param_groups:
        if knobs.beta2 is not None and "betas" in group:
            group["betas"] = (group["betas"][0], knobs.beta2)
        if knobs.eps is not None and "eps" in group:
            group["eps"] = knobs.eps
        if knobs.weight_decay is not None:
            group["weight_decay"] = knobs.weight_decay
    if knobs.from_step_one:
        for state in optimizer.state.values():
            if "step" in state:
                state["step"] = state["step"] * 0
