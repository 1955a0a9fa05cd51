"""Failed runs with checkpoints, for the tests of this room."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from forensics.case import Case
from forensics.findings import Outcome
from forensics.run import FoundCheckpoint
from tests.causes.cases import make_case
from tests.causes.shapes import falling

STEPS = (50, 100, 150, 200)


def checkpoint(step: int | None, complete: bool = True) -> FoundCheckpoint:
    """A checkpoint folder of the usual name."""
    name = "checkpoint-final" if step is None else f"checkpoint-{step}"
    return FoundCheckpoint(name, step, 1000, 0.0, complete)


def with_checkpoints(case: Case, found: Iterable[FoundCheckpoint] | None = None) -> Case:
    """The same case with checkpoints beside its log."""
    kept = tuple(checkpoint(s) for s in STEPS) if found is None else tuple(found)
    return replace(case, run=replace(case.run, checkpoints=kept))


def exploded(onset: int = 151, **more: Any) -> Case:
    """A loss that climbs away from step ``onset`` on; two hundred steps."""
    loss = falling()
    loss[onset - 1 :] += np.linspace(1, 40, len(loss) - onset + 1)
    settings: dict[str, Any] = {"outcome": Outcome.DIVERGED, "onset": onset}
    return make_case(loss, **(settings | more))
