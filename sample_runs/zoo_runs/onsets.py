"""Where a failure began: told from every step of a run and of its control."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Steps = NDArray[np.int64]
Values = NDArray[np.float64]
TOO_SLOW = 0.6
"""Share of the run after which a loss that still falls has come to no rest."""

NEVER = 0.15
"""Share of the control's way that a loss must go to have fallen to speak of."""


@dataclass(frozen=True)
class Began:
    """Any step from ``first`` to ``last`` is as right as another; both in the run's steps."""

    first: int
    last: int


def smooth(loss: Values, width: int) -> Values:
    """Running median over ``width`` points, centred; (n,)."""
    half = width // 2
    padded = np.pad(loss, half, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1), axis=1)


def tail(loss: Values) -> float:
    """Median of the last tenth."""
    return float(np.median(loss[-max(3, len(loss) // 10) :]))


def noise_of(values: Values) -> float:
    """Standard deviation from one point to the next, robustly."""
    return 1.4826 * float(np.median(np.abs(np.diff(values))))


def left_the_band(step: Steps, loss: Values, at: int) -> Began:
    """Between the last step at its best level and the first outside its band, before point ``at``.

    A loss that climbs out of its noise has begun somewhere between the two.
    """
    before = np.where(np.isfinite(loss), loss, np.inf)[: at + 1]
    calm = smooth(before, 9)
    turned = int(np.argmin(calm))
    spread = noise_of(loss[max(0, turned - 40) : turned + 1]) if turned else 0.0
    spread = spread if math.isfinite(spread) else 0.0
    best = float(calm[turned])
    inside = np.flatnonzero(before <= best + max(4 * spread, 0.03 * abs(best)))
    left = min(int(inside[-1]) + 1, at) if len(inside) else 0
    rested = np.flatnonzero(calm[: left + 1] <= best + max(spread / 3, 0.003 * abs(best)))
    first = int(rested[-1]) if len(rested) else left
    return Began(int(step[min(first, left)]), int(step[left]))


def came_to_rest(step: Steps, loss: Values, sound: Values, gain: float) -> Began:
    """From the first sign that a run goes another way than its control to where nothing is left.

    It begins where the loss first parts from that of the control or first reaches the level it ends
    at, whichever is sooner; it has begun for certain where it does not come near the control again
    and has reached that level. What never fell to speak of, or still falls at the end and so was
    too slow, did so from its first step.
    """
    n = min(len(loss), len(sound))
    width = max(9, n // 40)
    calm = smooth(loss, width)
    apart = np.abs(calm[:n] - smooth(sound[:n], width)) > 0.05 * gain
    close = np.flatnonzero(~apart)
    parted = min(int(close[-1]) + 1 if len(close) else 0, n - 1)
    left, rest = int(np.argmax(apart)), reached(loss)
    slow = rest > TOO_SLOW * len(loss)
    never = float(np.median(loss[:3])) - tail(loss) < NEVER * gain
    first = 0 if slow or never else min(left, rest, parted)
    return Began(int(step[first]), int(step[max(parted, 0 if slow else rest)]))


def reached(loss: Values) -> int:
    """Point at which a loss first is as low as it ends, within its noise and a tenth of its way."""
    calm, end = smooth(loss, max(9, len(loss) // 40)), tail(loss)
    way = max(0.0, float(np.median(loss[:3])) - end)
    return int(np.argmax(calm <= end + max(0.1 * way, noise_of(loss))))


def turned(steps: list[int], values: Values) -> Began:
    """Between the evaluations as good as the best and the first that is worse again."""
    best = int(np.nanargmin(values))
    good = values <= 1.03 * values[best]
    first = last = best
    while first > 0 and good[first - 1]:
        first -= 1
    while last + 1 < len(values) and good[last + 1]:
        last += 1
    return Began(steps[first], steps[min(last + 1, len(steps) - 1)])


def first_of(steps: Steps | list[int], bad: NDArray[np.bool_]) -> Began:
    """The first bad point; that of the run where none is."""
    at = int(steps[int(np.argmax(bad))])
    return Began(at, at)


def can_be_seen(step: Steps, shown: Values, acts_at: int) -> bool:
    """Whether who knows the step of an event sees the logged loss rise there.

    The mean of the next points must stand more than four standard errors above that of the last.
    """
    before, after = shown[step < acts_at], shown[step >= acts_at]
    before = before[-40:]
    if len(before) < 3 or not len(after) or not np.isfinite(after[:9]).all():
        return True
    deviation = noise_of(before) / math.sqrt(2)
    for taken in (1, 2, 3, 5, 9):
        last = before[-max(5, taken) :]
        rise = float(np.mean(after[:taken]) - np.mean(last))
        if rise > 4 * deviation * math.sqrt(1 / taken + 1 / len(last)):
            return True
    return False
