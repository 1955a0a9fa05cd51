"""The training loss as one line of text."""

import numpy as np

from forensics.case import Case
from forensics.run import Values
from forensics.signals import Signal
from forensics.timeline import Track

BLOCKS = "▁▂▃▄▅▆▇█"
BAD = "×"
"""Stands for a stretch in which a value is not finite."""
_EDGE = 1e300
"""Beyond it a range would overflow."""
_SHOWN = (Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH, Signal.EVAL_LOSS)


def shown_track(case: Case) -> Track | None:
    """The loss that is drawn, None where none was logged."""
    tracks = [case.track(signal) for signal in _SHOWN]
    return next((track for track in tracks if track is not None and len(track) > 1), None)


def sparkline(value: Values, width: int) -> str:
    """Draw values, shape (n,), in at most ``width`` characters; a stretch shows its highest.

    The height is logarithmic where the range spans more than a factor of twenty.
    """
    cells = np.array_split(value, min(width, len(value)))
    highest = np.clip([_highest(cell) for cell in cells], -_EDGE, _EDGE)
    finite = highest[np.isfinite(highest)]
    if not len(finite):
        return BAD * len(cells)
    low, high = float(finite.min()), float(finite.max())
    if low > 0 and high / low > 20:
        highest, low, high = np.log(highest), np.log(low), np.log(high)
    span = (high - low) or 1.0
    return "".join(_block((level - low) / span) for level in highest)


def _highest(cell: Values) -> float:
    return float(cell.max()) if np.isfinite(cell).all() else float("nan")


def _block(share: float) -> str:
    return BLOCKS[round(share * (len(BLOCKS) - 1))] if np.isfinite(share) else BAD
