"""Numbers in sentences, as every look of this room writes them."""

from forensics.phrasing import at_step, count, listing, number, percent, times

__all__ = ["at_step", "count", "listing", "number", "percent", "times"]
