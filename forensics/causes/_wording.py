"""Numbers in sentences, as every look of this room writes them."""

from forensics.findings import EpisodeKind
from forensics.phrasing import (
    at_step,
    between,
    count,
    listing,
    number,
    percent,
    stretch,
    the_batch,
    times,
    unit,
)

__all__ = [
    "at_step",
    "between",
    "count",
    "event",
    "listing",
    "number",
    "percent",
    "stretch",
    "the_batch",
    "times",
    "unit",
]


def event(kind: EpisodeKind) -> str:
    """What happened, as a noun: ``loss spike``, ``non-finite value``."""
    return kind.value.replace("_", " ").replace("non finite", "non-finite value")
