"""Numbers in sentences: how evidence and advice write them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite, isnan

_UNIT: ContextVar[str] = ContextVar("unit", default="step")


@contextmanager
def counted_in(noun: str) -> Iterator[None]:
    """Within it, places and stretches of a run are written in what the run counts.

    Args:
        noun: In the singular: ``step``, ``epoch``, ``sample`` or ``row``.
    """
    before = _UNIT.set(noun)
    try:
        yield
    finally:
        _UNIT.reset(before)


def unit() -> str:
    """What the run that is being worded counts by, in the singular."""
    return _UNIT.get()


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
    """Write a share of 0 to 1: ``34 %``, and ``0.4 %`` below one; never rounded up to all."""
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{number(round(100 * share, 1 if abs(share) < 0.1 else 0))} %"


def times(ratio: float) -> str:
    """Write a ratio: ``12 times``, ``1.4 times``."""
    return f"{number(ratio)} times"


def at_step(step: int) -> str:
    """Write a place in the run: ``step 1,200``, or ``epoch 12`` where it counts epochs."""
    return f"{unit()} {step:,}"


def stretch(amount: int) -> str:
    """Write a length in what the run counts: ``1 step``, ``300 steps``, ``12 epochs``."""
    return count(amount, unit())


def the_batch(step: int) -> str:
    """Write which batch: ``the batch of step 12``; what counts more than steps holds many."""
    return f"the {'batch' if unit() == 'step' else 'batches'} of {at_step(step)}"


def between(first: int, last: int) -> str:
    """Write a range of places, both ends in it: ``steps 3 to 8``; a single one as ``step 3``."""
    return at_step(first) if first == last else f"{unit()}s {first:,} to {last:,}"


def count(amount: int, noun: str) -> str:
    """Write a count with its noun: ``1 spike``, ``3 spikes``."""
    plural = "es" if noun.endswith(("s", "x", "tch")) else "s"
    return f"{amount:,} {noun}" + ("" if amount == 1 else plural)


def listing(steps: Sequence[int], most: int = 4) -> str:
    """Write several steps: ``steps 10, 20 and 30``; beyond ``most``, how many more there are."""
    shown = [f"{s:,}" for s in steps[:most]]
    if len(steps) > most:
        return f"{unit()}s {', '.join(shown)} and {len(steps) - most:,} more"
    if len(shown) > 1:
        return f"{unit()}s {', '.join(shown[:-1])} and {shown[-1]}"
    return f"{unit()} {shown[0]}" if shown else f"no {unit()}"
