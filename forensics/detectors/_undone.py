"""What was learned in the first part of a run and is lost for most of the rest."""

import numpy as np

from forensics.detectors._robust import rolling_median, thinned
from forensics.medians import median
from forensics.run import Values

BACK = 0.85
"""Share of the first losses at which all that was learned is lost."""


def undone(value: Values, *, points: int = 20) -> bool:
    """True where what was learned at first is lost for most of the rest.

    Either the first loss was never seen again, or the loss swings so widely that it has no noise
    to measure a rise against: down to a quarter of the first losses, and the last half above them.
    """
    if len(value) < points:
        return False
    thin = thinned(value, 4096)
    first, half = median(value[: max(1, len(value) // 50)]), len(thin) // 2
    after = median(thin[half:])
    if first <= 0 or after < BACK * first:
        return False
    low = float(np.min(rolling_median(thin[:half], max(5, len(thin) // 100))))
    return low < 0.25 * first or float(np.quantile(thin[1:], 0.1)) > 2.0 * float(value[0]) > 0


def first_lost(value: Values) -> int:
    """Position at which a run whose learning was undone first was back where it began."""
    first = median(value[: max(1, len(value) // 50)])
    low = value < 0.25 * first
    begin, back = (int(np.argmax(low)), first) if low.any() else (0, 2.0 * float(value[0]))
    return begin + int(np.argmax(value[begin:] >= back))
