"""Steps printed with three digits (``2.44e+04``), as OpenAI baselines and its heirs print them."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from forensics.readers._text.placed import to_steps
from forensics.readers._text.rows import Ordinals, Values

_DIGITS = 3


def unround(values: Values, tails: Mapping[str, int] | Counter[str]) -> Ordinals:
    """Whole steps; a step that was rounded is the one before plus the interval, where that fits.

    Args:
        values: Shape (n,), as printed.
        tails: How they were printed, see `numerals.tail_of`.

    Returns:
        Shape (n,).
    """
    steps = to_steps(values)
    if not any("e" in tail.lower() for tail in tails):
        return steps
    exact = steps[(steps > 0) & (steps < 10**_DIGITS)]
    gaps = np.diff(exact)
    gaps = gaps[gaps > 0]
    if not len(gaps):
        return steps
    interval = int(np.median(gaps))
    for k in range(1, len(steps)):
        guess, printed = int(steps[k - 1]) + interval, int(steps[k])
        if printed >= 10**_DIGITS and _rounds_to(guess, printed):
            steps[k] = guess
    return steps


def _rounds_to(guess: int, printed: int) -> bool:
    quantum: int = 10 ** (len(str(printed)) - _DIGITS)
    return 2 * abs(guess - printed) <= quantum
