"""Real trainings with one planted fault each, and the replay files of their users."""

import sys

from forensics import registry
from tests.replay.runs._base import PlantedRun


def planted_runs() -> list[PlantedRun]:
    """Every run, by name."""
    found: list[PlantedRun] = registry.collect(sys.modules[__name__], "RUN")
    return sorted(found, key=lambda run: run.name)
