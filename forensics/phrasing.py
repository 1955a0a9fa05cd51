"""Numbers in sentences: how evidence and advice write them."""

from collections.abc import Sequence
from math import isfinite, isnan


def number(value: float) -> str:
    """Write a quantity with three significant digits: ``0.0321``, ``1,250``, ``3e-5``, ``NaN``."""
    if isnan(value):
        return "NaN"
    if not isfinite(value):
        return "infinity" if value > 0 else "-infinity"
    size = abs(value)
    if value == 0:
        return "0"
    if size >= 1e6 or size < 1e-3:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return f"{value:,.0f}" if size >= 999.5 else f"{value:.3g}"


def percent(share: float) -> str:
    """Write a share of 0 to 1: ``34 %``, and ``0.4 %`` below one."""
    return f"{number(round(100 * share, 1 if abs(share) < 0.1 else 0))} %"


def times(ratio: float) -> str:
    """Write a ratio: ``12 times``, ``1.4 times``."""
    return f"{number(ratio)} times"


def at_step(step: int) -> str:
    """Write a place in the run: ``step 1,200``."""
    return f"step {step:,}"


def count(amount: int, noun: str) -> str:
    """Write a count with its noun: ``1 spike``, ``3 spikes``."""
    return f"{amount:,} {noun}" + ("" if amount == 1 else "s")


def listing(steps: Sequence[int], most: int = 4) -> str:
    """Write several steps: ``steps 10, 20 and 30``; beyond ``most``, how many more there are."""
    shown = [f"{s:,}" for s in steps[:most]]
    if len(steps) > most:
        return f"steps {', '.join(shown)} and {len(steps) - most:,} more"
    if len(shown) > 1:
        return f"steps {', '.join(shown[:-1])} and {shown[-1]}"
    return f"step {shown[0]}" if shown else "no step"
