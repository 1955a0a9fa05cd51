"""The battery: one file per experiment, run in order of cost until the budget is spent."""

import sys
from functools import cache

from forensics import registry
from forensics.replay.experiments._base import Experiment


@cache
def battery() -> tuple[Experiment, ...]:
    """Every experiment, cheapest first."""
    found: list[Experiment] = registry.collect(sys.modules[__name__], "EXPERIMENT")
    return tuple(sorted(found, key=lambda experiment: experiment.order))


__all__ = ["Experiment", "battery"]
