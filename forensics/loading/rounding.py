"""Whether two numbers are one, logged twice: float32 keeps seven digits, printing keeps fewer."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from forensics.run import Values

RELATIVE = 1e-6
"""What TensorBoard stored as float32 agrees this far with what was logged."""
COARSE = 0.05
"""A rounding unit beyond this share of the range tells nothing, but for ``_rounded_copy``."""
_MIN_POINTS, _MIN_LEVELS = 8, 4
"""So many points at so many printed values are not all rounded alike by chance."""
_SAMPLE = 512
_HALF = 0.5001  # what was rounded lies within half a unit, and what floats add
_DECIMALS, _DIGITS = range(1, 7), range(2, 7)


@np.errstate(all="ignore")
def agreement(one: Values, other: Values, *, one_run: bool = False) -> NDArray[np.bool_]:
    """Where two arrays of shape (n,) say the same, within float32 or the rounding of either.

    Args:
        one: As logged.
        other: As logged.
        one_run: That both are of one run is known: a rounding too coarse to tell runs apart
            still tells whether they say the same.
    """
    best = _within(one, other, RELATIVE * np.maximum(np.abs(one), np.abs(other)))
    if best.all():
        return best
    both = np.concatenate([one, other])
    spread = float(np.ptp(both[np.isfinite(both)])) if np.isfinite(both).any() else 0.0
    for unit in (*_units(one), *_units(other)):
        fine = float(np.max(unit)) <= COARSE * spread
        here = _within(one, other, unit if fine else _HALF * unit)
        if fine or one_run or _rounded_copy(one, other, here):
            best = here if np.count_nonzero(here) > np.count_nonzero(best) else best
    return best


def _rounded_copy(one: Values, other: Values, same: NDArray[np.bool_]) -> bool:
    """True where one curve is the other, rounded, at every point, and neither stands still."""
    levels = min(len(np.unique(one)), len(np.unique(other)))
    return bool(same.all()) and len(same) >= _MIN_POINTS and levels >= _MIN_LEVELS


@np.errstate(all="ignore")
def coarseness(values: Values) -> float:
    """Rounding unit as a share of the typical value, 0.0 where the values are not rounded."""
    sample = _sample(values)
    return max((float(np.median(unit / np.abs(sample))) for unit in _units(sample)), default=0.0)


def _within(one: Values, other: Values, tolerance: Values) -> NDArray[np.bool_]:
    close = np.abs(one - other) <= tolerance
    same: NDArray[np.bool_] = close | (one == other) | (np.isnan(one) & np.isnan(other))
    return same


def _units(values: Values) -> Iterator[Values]:
    """One unit in the last place, shape (n,), by decimals and by significant digits."""
    sample = _sample(values)
    decimals = next((d for d in _DECIMALS if np.array_equal(np.round(sample, d), sample)), None)
    digits = next((d for d in _DIGITS if _has_digits(sample, d)), None)
    if len(sample) and decimals is not None:
        yield np.full(values.shape, 10.0**-decimals)
    if len(sample) and digits is not None:
        yield _last_digit(values, digits)


def _sample(values: Values) -> Values:
    """Some of the finite values other than 0, evenly spread."""
    telling: Values = values[np.isfinite(values) & (values != 0)]
    return telling[:: max(1, len(telling) // _SAMPLE)]


def _has_digits(values: Values, digits: int) -> bool:
    unit = _last_digit(values, digits)
    return bool(np.allclose(np.round(values / unit) * unit, values, rtol=1e-12, atol=0))


def _last_digit(values: Values, digits: int) -> Values:
    size = np.abs(np.where(np.isfinite(values) & (values != 0), values, 1.0))
    unit: Values = 10.0 ** (np.floor(np.log10(size)) - digits + 1)
    return unit
