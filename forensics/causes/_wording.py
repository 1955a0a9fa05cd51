"""Numbers in sentences, as every look of this room writes them."""

from forensics.phrasing import (
    at_step,
    between,
    count,
    listing,
    number,
    percent,
    stretch,
    times,
    unit,
)

__all__ = [
    "at_step",
    "between",
    "count",
    "listing",
    "number",
    "percent",
    "stretch",
    "times",
    "unit",
]
