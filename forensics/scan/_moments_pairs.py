"""Compares one tensor in two checkpoints: what moved, and what v says of the steps between them."""

from math import nan, sqrt

import numpy as np

from forensics.checkpoint_facts import MomentChange, WeightChange
from forensics.checkpoints import StoredTensor
from forensics.scan._moments_rows import RowSums
from forensics.scan._moments_values import as_bits, doubles, side_by_side, values_of
from forensics.scan.element_types import Doubles

ROUNDING = 6e-8
"""Relative error of one multiplication in float32; v is multiplied by beta2 once a step."""
SMALLEST = 1e-36
"""Near the end of float32's range v loses digits, and then becomes zero."""


def weight_change(earlier: StoredTensor, later: StoredTensor, most: int = 1 << 22) -> WeightChange:
    """Compare weights of one type and size.

    Raises:
        UnreadableFile: The values cannot be read.
    """
    read = moved = 0
    before = difference = 0.0
    for _, (old, new) in side_by_side((earlier, later), most):
        differ = as_bits(old, earlier.dtype) != as_bits(new, later.dtype)
        a, b = doubles(old, earlier.dtype), doubles(new, later.dtype)
        finite = np.isfinite(a) & np.isfinite(b)
        read += len(a)
        moved += int(np.count_nonzero(differ))
        with np.errstate(over="ignore", invalid="ignore"):
            before += float(np.square(a, where=finite, out=np.zeros_like(a)).sum())
            difference += float(np.square(b - a, where=finite, out=np.zeros_like(a)).sum())
    relative = sqrt(difference / before) if before else nan
    return WeightChange(later.name, later.shape, read, moved / read if read else 0.0, relative)


def moment_change(
    earlier: StoredTensor, later: StoredTensor, beta2: float, steps: float, most: int = 1 << 22
) -> MomentChange:
    """Hold v of two checkpoints against v2 >= b2^D v1, which is true whatever the gradients were.

    Args:
        earlier: v1, in 32 bits or more.
        later: v2, of the same size.
        beta2: Decay of the second moment.
        steps: D, the steps of this parameter between them.
        most: Elements to read of each.

    Raises:
        UnreadableFile: The values cannot be read.
    """
    decay, room = beta2**steps, 1e-6 + ROUNDING * steps
    rows_alive, rows_still = RowSums(later), RowSums(later)
    compared = low = silent = 0
    for start, (v1, v2) in values_of((earlier, later), most):
        least = v1 * decay
        alive = (v1 > 0) & np.isfinite(v1) & np.isfinite(v2)
        told = alive & (least > SMALLEST)
        too_low = told & (v2 < least * (1 - room))
        still = (told & ~too_low & (v2 <= least * (1 + room))) | (alive & ~told & (v2 <= SMALLEST))
        compared += int(np.count_nonzero(alive))
        low += int(np.count_nonzero(too_low))
        silent += int(np.count_nonzero(still))
        rows_alive.add(start, alive.astype(np.float64))
        rows_still.add(start, still.astype(np.float64))
    seen, quiet = _silent_rows(rows_alive.sums, rows_still.sums)
    return MomentChange(
        later.name,
        later.shape,
        compared,
        low / compared if compared else 0.0,
        silent / compared if compared else 0.0,
        seen,
        quiet,
    )


def _silent_rows(alive: Doubles, still: Doubles) -> tuple[int, int]:
    """Rows with any element that was compared, and those of which all were still."""
    seen = alive > 0
    return int(seen.sum()), int((seen & (alive == still)).sum())
