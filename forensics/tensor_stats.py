"""What a scan counts in one tensor; by itself, for a scan needs no other finding."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class TensorStats:
    """Statistics of one tensor of one checkpoint (filled by ``scan``)."""

    checkpoint: str
    step: int | None
    name: str
    role: str
    dtype: str
    shape: tuple[int, ...]
    size: int
    nan: int
    pos_inf: int
    neg_inf: int
    zero: int
    abs_max: float
    """Largest magnitude of the finite part; like ``rms`` and ``mean`` NaN where there is none."""
    rms: float
    first_bad: int | None
    """Flat index of the first element that is not finite, in the order in which they are stored."""
    mean: float = math.nan
    nbytes: int = 0
    """Bytes in the file."""
    shared: bool = False
    """True where all its bytes are an earlier tensor's too (tied weights): count them once."""
    missing: str = ""
    """Why some or all of its bytes could not be read, or ''."""
    rank: int | None = None
    """The rank that wrote it, where every rank keeps a copy."""

    @property
    def is_poisoned(self) -> bool:
        """True where it holds NaN or infinity, other than on purpose.

        Attention masks are stored as minus infinity and zeros, and a best score that was never
        beaten as a single infinity.
        """
        if self.nan or not (self.pos_inf or self.neg_inf):
            return self.nan > 0
        if self.role == "other" and self.size == 1:
            return False
        return self.pos_inf > 0 or not (self.role == "buffer" or self._looks_like_a_mask)

    @property
    def _looks_like_a_mask(self) -> bool:
        """A table of nothing but minus infinity and zeros; a vector so filled is a broken bias."""
        filled = self.zero > 0 and self.neg_inf + self.zero == self.size
        return filled and len(self.shape) > 1 and self.role in ("param", "other")
