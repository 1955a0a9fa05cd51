"""The learning rate of each step: as logged, or as the checkpoint and the optimizer hold it."""

from dataclasses import dataclass

import numpy as np
import torch

from forensics.replay.plan import Logged, ReplayPlan

SAME = 1e-5
"""Relative difference up to which two rates are the same number, printed differently."""


@dataclass(frozen=True)
class Rates:
    """Rates per parameter group."""

    usual: tuple[float, ...]
    """Of each group, as the optimizer holds it at the start."""
    logged: Logged | None
    shift: int = 0
    """Some frameworks log, at a step, the rate of the next one: then -1."""

    @classmethod
    def of(cls, plan: ReplayPlan, optimizer: torch.optim.Optimizer, *, loaded: bool) -> "Rates":
        """Read them off the optimizer; its own are only trusted where a checkpoint set them."""
        usual = tuple(float(group["lr"]) for group in optimizer.param_groups)
        logged = plan.rate if plan.rate is not None and _is_positive(plan.rate) else None
        if not loaded and logged is None and plan.settings.lr:
            factor = plan.settings.lr / usual[0] if usual[0] else 0.0
            usual = tuple(rate * factor if factor else plan.settings.lr for rate in usual)
        return cls(usual, logged)

    def aligned(self, next_step: int) -> "Rates":
        """With the shift found by which the checkpoint's rate is that of ``next_step``."""
        if self.logged is None:
            return self
        for shift in (0, -1, 1):
            value = self.logged.at(next_step + shift)
            if value is not None and abs(value - self.usual[0]) <= SAME * abs(self.usual[0]):
                return Rates(self.usual, self.logged, shift)
        return self

    def at(self, step: int) -> tuple[float, ...]:
        """The rate of each group at a step; between logged points on a straight line."""
        if self.logged is None:
            return self.usual
        now = float(np.interp(step + self.shift, self.logged.steps, self.logged.values))
        first = self.usual[0]
        return tuple(now * rate / first if first else now for rate in self.usual)

    def apply(self, optimizer: torch.optim.Optimizer, step: int, multiple: float) -> None:
        """Set the rate of every group for one step."""
        for group, rate in zip(optimizer.param_groups, self.at(step), strict=True):
            group["lr"] = rate * multiple


def _is_positive(logged: Logged) -> bool:
    values = np.asarray(logged.values)
    return bool(np.isfinite(values).all() and (values >= 0).all() and (values > 0).any())
