"""Looks at jumps of the loss that come in equal distances: the data, not the updates."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import Seen
from forensics.medians import MAD_TO_SD, deviation
from forensics.phrasing import count, number, unit
from forensics.run import Values
from forensics.signals import Signal


def jumps_in_step(case: Case, fewest: int = 5, room: float = 0.15) -> Seen:
    """The loss falls and jumps up again in equal distances, as it does where classes take turns."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    if found is None or len(found) < 40:
        return Seen(None, "Needs forty training losses.")
    at = _jumps(found.value)
    if len(at) < fewest:
        return Seen(False, f"The loss jumped {count(len(at), 'time')} from one point to the next.")
    gaps = np.diff(found.step[at]).astype(float)
    usual = float(np.median(gaps))
    # A jump that is missed leaves a gap of two or three distances.
    off = np.abs(gaps / usual - np.maximum(np.round(gaps / usual), 1))
    fits = float(np.mean((off <= room) & (gaps <= 4.5 * usual)))
    distance = usual / max(case.timeline.interval, 1)
    return Seen(
        fits >= 0.75 and distance >= 3,
        f"The loss jumped {count(len(at), 'time')} from one point to the next, mostly "
        f"{number(usual)} {unit()}s apart.",
        tuple(int(s) for s in found.step[at[:8]]),
    )


def _jumps(value: Values, least: float = 3.0) -> np.ndarray:
    """Places whose value lies far above the one before and those before that; shape (k,)."""
    rise = np.diff(value)
    noise = MAD_TO_SD * deviation(rise)
    span = float(np.quantile(value, 0.9) - np.quantile(value, 0.1))
    high = rise > max(least * noise, 0.4 * span)
    at = np.flatnonzero(high) + 1
    # Of a rise over several points the first counts.
    return at[np.concatenate([[True], np.diff(at) > 1])] if len(at) else at
