"""What was counted over a stretch of one tensor; stretches add up in order."""

from dataclasses import dataclass
from math import copysign, ldexp, nan, sqrt


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts and sums over consecutive elements.

    A complex number is one element: NaN where a part is, else infinite where a part is. Its
    finite parts enter the sums one by one.
    """

    count: int = 0
    """Elements looked at."""
    nan: int = 0
    pos_inf: int = 0
    neg_inf: int = 0
    zero: int = 0
    first_bad: int | None = None
    """Index of the first element that is not finite."""
    finite: int = 0
    """Number of terms in the sums."""
    abs_max: float = 0.0
    """Largest finite magnitude."""
    total: float = 0.0
    """Sum of the finite values, in units of 2**exponent."""
    squares: float = 0.0
    """Sum of their squares, in units of 4**exponent."""
    exponent: int = 0
    """Not 0 only where a square would leave float64's range."""

    def __add__(self, later: "Tally") -> "Tally":
        first = self.first_bad
        if first is None and later.first_bad is not None:
            first = self.count + later.first_bad
        exponent = _common(self, later)
        return Tally(
            count=self.count + later.count,
            nan=self.nan + later.nan,
            pos_inf=self.pos_inf + later.pos_inf,
            neg_inf=self.neg_inf + later.neg_inf,
            zero=self.zero + later.zero,
            first_bad=first,
            finite=self.finite + later.finite,
            abs_max=max(self.abs_max, later.abs_max),
            total=_moved(self.total, self.exponent - exponent)
            + _moved(later.total, later.exponent - exponent),
            squares=_moved(self.squares, 2 * (self.exponent - exponent))
            + _moved(later.squares, 2 * (later.exponent - exponent)),
            exponent=exponent,
        )

    @property
    def largest(self) -> float:
        """Largest finite magnitude, NaN where nothing is finite."""
        return self.abs_max if self.finite else nan

    @property
    def rms(self) -> float:
        """Root mean square of the finite part, NaN where nothing is finite."""
        return self._in_units(sqrt(self.squares / self.finite)) if self.finite else nan

    @property
    def mean(self) -> float:
        """Mean of the finite part, NaN where nothing is finite."""
        return self._in_units(self.total / self.finite) if self.finite else nan

    def _in_units(self, average: float) -> float:
        """No average lies beyond the largest magnitude, though its last bit may be rounded up."""
        try:
            value = ldexp(average, self.exponent)
        except OverflowError:
            return copysign(self.abs_max, average)
        return max(min(value, self.abs_max), -self.abs_max)


def _common(a: Tally, b: Tally) -> int:
    """The exponent under which both sums keep what matters: that of the larger."""
    if not b.squares:
        return a.exponent
    return b.exponent if not a.squares else max(a.exponent, b.exponent)


def _moved(sum_: float, by: int) -> float:
    return ldexp(sum_, by) if by else sum_
