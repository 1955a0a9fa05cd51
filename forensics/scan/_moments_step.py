"""Holds the way of a tensor over one step against what Adam's state makes of it."""

from math import nan, sqrt

import numpy as np

from forensics.checkpoint_facts import UpdateFit
from forensics.checkpoints import StoredTensor
from forensics.scan._moments_adam import AdamSettings, grown
from forensics.scan._moments_values import values_of
from forensics.scan.element_types import Doubles

ROUNDING = 6e-8
"""Relative error of a number in float32."""


def update_fit(
    earlier: StoredTensor,
    later: StoredTensor,
    moments: tuple[StoredTensor, StoredTensor],
    settings: AdamSettings,
    most: int = 1 << 22,
) -> UpdateFit:
    """Fit w2 - w1 = -(a u + b w1) with u = mhat / (sqrt(vhat) + eps).

    Rate and decay are fitted, so nothing needs to be known of the schedule, and both ways of
    weight decay are allowed for.

    Args:
        earlier: w1, in 32 bits or more.
        later: w2, one step on, of the same size.
        moments: m and v as they were saved with w2.
        settings: Of the optimizer.
        most: Elements to read of each.

    Raises:
        UnreadableFile: The values cannot be read.
    """
    squares, read, level = np.zeros((3, 3)), 0, 0.0
    for _, (w1, w2, m, v) in values_of((earlier, later, *moments), most):
        finite = np.isfinite(w1) & np.isfinite(w2) & np.isfinite(m) & (v >= 0) & np.isfinite(v)
        update = _update(m[finite], v[finite], settings)
        columns = np.stack([update, w1[finite], w2[finite] - w1[finite]])
        squares += columns @ columns.T
        read += columns.shape[1]
        level += float(np.square(w2[finite]).sum())
    moved = float(squares[2, 2])
    rate, left = _solved(squares)
    return UpdateFit(
        name=later.name,
        read=read,
        rate=-rate,
        residual=sqrt(left / moved) if moved else nan,
        rounding=ROUNDING * sqrt(level / moved) if moved else nan,
    )


def _update(m: Doubles, v: Doubles, settings: AdamSettings) -> Doubles:
    root = np.sqrt(v / grown(settings.beta2, settings.step)) + settings.eps
    mean = m / grown(settings.beta1, settings.step)
    update: Doubles = np.divide(mean, root, out=np.zeros_like(mean), where=root > 0)
    return update


def _solved(squares: Doubles) -> tuple[float, float]:
    """The factor of the update, and the sum of squares that is left.

    Args:
        squares: Inner products of update, weights and way, shape (3, 3).
    """
    fitted, *_ = np.linalg.lstsq(squares[:2, :2], squares[:2, 2], rcond=1e-12)
    left = squares[2, 2] - fitted @ squares[:2, 2]
    return float(fitted[0]), max(0.0, float(left))
