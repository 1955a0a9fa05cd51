"""One planted fault: a small real training, the replay file its user would write, the truth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.replay.runs._training import Plan, train

Rows = list[dict[str, float]]
"""The log: one row per logged step, with `step`, `loss`, `grad_norm`, `lr` and more."""


@dataclass(frozen=True)
class PlantedRun:
    """A run, made by `write`; with ``healthy`` its control, the same without the fault."""

    name: str
    cause: str
    """The root cause that the diagnosis is to confirm."""
    replay: str
    """Text of the replay file: the training as it was meant, on the data as it was."""
    plan: Plan
    harmed: Callable[[Rows], bool]
    """Whether the log shows the failure."""
    healthy_plan: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the control."""
    healthy_replay: Mapping[str, str] = field(default_factory=dict)
    """What the control's file has in place of other text."""
    accept: tuple[str, ...] = ()
    """Other names for the same fault."""
    training: Callable[..., Rows] = train

    def write(self, folder: Path, *, healthy: bool = False) -> Rows:
        """Train in ``folder/run``, with the replay file at ``folder/replay.py``."""
        text, plan = self.replay, self.plan
        if healthy:
            for old, new in self.healthy_replay.items():
                text = text.replace(old, new)
            plan = plan.changed(**self.healthy_plan)
        return self.training(text, plan, folder)


def median_loss(rows: Rows, first: int, last: int) -> float:
    """Median loss of the steps first..last."""
    kept = sorted(row["loss"] for row in rows if first <= row["step"] <= last)
    return kept[len(kept) // 2]
