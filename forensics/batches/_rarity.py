"""Whether a batch shows something more often than its controls let one expect."""

from collections.abc import Sequence

from forensics.batches._base import Sight

CHANCE = 0.02
"""A batch as odd as this one in fifty is no coincidence: only few batches are suspects."""
MARGIN = 2.0
"""Times the largest share of any control: batches of one source differ more than chance has it."""


def is_unusual(sight: Sight, controls: Sequence[Sight]) -> bool:
    """True where so many hits are improbable at the rate of the controls.

    The rate is Laplace's estimate, (hits + 1) / (samples + 2), so a few controls without a hit do
    not make the first hit a sensation.
    """
    if not sight.hits:
        return False
    if sight.share <= MARGIN * max((c.share for c in controls), default=0.0):
        return False
    from scipy.special import bdtrc  # a quarter of a second to load, and rarely needed

    rate = (sum(c.hits for c in controls) + 1) / (sum(c.of for c in controls) + 2)
    return float(bdtrc(sight.hits - 1, sight.of, rate)) < CHANCE


def stands_apart(log_value: float, log_controls: Sequence[float], least: float) -> bool:
    """True where a value is above all controls by ``least`` and by four times their own range.

    Args:
        log_value: Natural logarithm of the value (or the value itself, where it is one already).
        log_controls: The same of each control.
        least: Smallest distance that counts, in the same unit.
    """
    top, bottom = max(log_controls), min(log_controls)
    return log_value - top >= max(least, 4 * (top - bottom))


def middle(values: Sequence[float]) -> float:
    """The upper median: one of the values, so that no sum of two can overflow."""
    return sorted(values)[len(values) // 2]
