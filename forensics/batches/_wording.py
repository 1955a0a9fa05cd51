"""Numbers in the sentences of the checks."""

from collections.abc import Sequence
from math import isfinite, isnan

from forensics.batches._base import Sight


def number(value: float) -> str:
    """Three significant digits: ``0.0321``, ``1,250``, ``3e-5``, ``NaN``."""
    if isnan(value):
        return "NaN"
    if not isfinite(value):
        return "infinity" if value > 0 else "-infinity"
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    if abs(value) >= 1e6 or abs(value) < 1e-3:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def part_of(sight: Sight, noun: str = "sample") -> str:
    """``all 32 samples of `x```, ``3 of 32 samples of `x```."""
    plural = noun if sight.of == 1 else f"{noun}s"
    if sight.of == 1 and sight.hits == 1:
        return f"the only {noun} of `{sight.tensor}`"
    amount = f"all {sight.of:,}" if sight.hits == sight.of else f"{sight.hits:,} of {sight.of:,}"
    return f"{amount} {plural} of `{sight.tensor}`"


def beside(controls: Sequence[Sight], noun: str = "sample") -> str:
    """What the controls show: ``none of 96 samples of 3 control batches``."""
    if not controls:
        return "there is no other batch to compare"
    total, hits = sum(c.of for c in controls), sum(c.hits for c in controls)
    batches = f"{len(controls):,} control batch" + ("" if len(controls) == 1 else "es")
    amount = "none" if not hits else f"{hits:,}"
    return f"{amount} of {total:,} {noun}s of {batches}"


def capital(sentence: str) -> str:
    """First letter large, unless it is a name in backticks."""
    return sentence[:1].upper() + sentence[1:]
