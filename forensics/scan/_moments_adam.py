"""What Adam's two moments of a tensor prove, whatever the training was.

From their definition alone (arXiv 1412.6980): |m| / sqrt(v) has a largest possible value, v is a
mean of squares, and sum(vhat) is the mean square of the gradient's norm as the optimizer saw it.
"""

from dataclasses import dataclass
from math import inf, isfinite, nan, sqrt

import numpy as np

from forensics.checkpoint_facts import MomentFacts
from forensics.checkpoints import DType, StoredTensor
from forensics.scan._moments_values import values_of
from forensics.scan.element_types import Doubles

EXACT = frozenset({DType.F32, DType.F64})
"""In fewer bits v is rounded by more than a step of beta2 changes it, and the bounds are gone."""
SMALLEST = 1e-33
"""v below this has lost digits of float32, and its root no longer matches m."""
ROUNDING = 1e-3
"""Relative room above the bound: the moments are rounded at every step."""


@dataclass(frozen=True)
class AdamSettings:
    """How the optimizer was set for one parameter."""

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    step: float | None = None
    """The parameter's step counter; None: the moments are taken as settled."""
    bounded: bool = True
    """False where the betas are not known: then nothing can be held against them."""

    @property
    def bound(self) -> float:
        """Largest |m| / sqrt(v) of any sequence of gradients, by the Cauchy-Schwarz inequality."""
        return moment_bound(self.beta1, self.beta2) if self.bounded else inf


def moment_bound(beta1: float, beta2: float) -> float:
    """(1 - b1) / sqrt(1 - b2) / sqrt(1 - b1^2 / b2): 7.3 for 0.9 and 0.999; infinite if b1^2 >= b2.

    Args:
        beta1: Decay of the first moment, 0 to 1.
        beta2: Decay of the second moment, 0 to 1.
    """
    if not (0 <= beta1 < 1 and 0 < beta2 < 1) or beta1 * beta1 >= beta2:
        return inf
    return (1 - beta1) / sqrt(1 - beta2) / sqrt(1 - beta1 * beta1 / beta2)


def noise_floor(beta1: float) -> float:
    """RMS of Adam's update for gradients without any direction, 0.23 for 0.9."""
    return sqrt((1 - beta1) / (1 + beta1))


def moment_facts(
    first: StoredTensor, second: StoredTensor, settings: AdamSettings, most: int = 1 << 22
) -> MomentFacts:
    """Measure the two moments of one tensor.

    Args:
        first: m, of the same size as v.
        second: v.
        settings: Of the optimizer.
        most: Elements to read; of a larger tensor evenly spaced stretches are read.

    Raises:
        UnreadableFile: The values cannot be read.
    """
    sums = _Sums(settings)
    for _, (m, v) in values_of((first, second), most):
        sums.add(m, v)
    return sums.facts(second, exact={first.dtype, second.dtype} <= EXACT)


class _Sums:
    """Adds up stretches of one tensor."""

    def __init__(self, settings: AdamSettings) -> None:
        self._settings = settings
        self._grown = grown(settings.beta1, settings.step), grown(settings.beta2, settings.step)
        self._limit = settings.bound * (1 + ROUNDING)
        self._read = self._alive = self._beyond = self._negative = self._tiny = self._zero = 0
        self._squares = self._updates = self._top = 0.0

    def add(self, m: Doubles, v: Doubles) -> None:
        """Add a stretch; what is not finite is left out."""
        finite = np.isfinite(m) & np.isfinite(v)
        if not finite.all():
            m, v = m[finite], v[finite]
        self._read += len(v)
        self._negative += int(np.count_nonzero(v < 0))
        self._zero += int(np.count_nonzero(v == 0))
        self._squares += float(np.maximum(v, 0).sum()) / self._grown[1]
        self._add_alive(m, v)

    def _add_alive(self, m: Doubles, v: Doubles) -> None:
        alive = v > 0
        size, root = np.abs(m[alive]), np.sqrt(v[alive])
        if not len(root):
            return
        deviation = root / sqrt(self._grown[1])
        update = size / self._grown[0] / (deviation + self._settings.eps)
        trusted = root > sqrt(SMALLEST)
        ratio = size[trusted] / root[trusted]
        self._alive += len(root)
        self._updates += float(np.square(update).sum())
        self._tiny += int(np.count_nonzero(deviation < self._settings.eps))
        self._top = max(self._top, float(ratio.max(initial=0.0)))
        self._beyond += int(np.count_nonzero(ratio > self._limit))

    def facts(self, tensor: StoredTensor, *, exact: bool) -> MomentFacts:
        """What came of it."""
        return MomentFacts(
            name=tensor.name,
            size=tensor.size,
            read=self._read,
            exact=exact,
            update_rms=sqrt(self._updates / self._alive) if self._alive else nan,
            update_max=self._top,
            bound=self._settings.bound,
            beyond_bound=self._beyond,
            negative=self._negative,
            eps_share=self._tiny / self._alive if self._alive else 0.0,
            unseen=self._zero / self._read if self._read else 0.0,
            sum_square=self._squares * tensor.size / self._read if self._read else 0.0,
            noise_floor=noise_floor(self._settings.beta1),
            step=self._settings.step,
        )


def grown(beta: float, step: float | None) -> float:
    """1 - beta^step: how much of its final level a moment has reached."""
    if step is None or not isfinite(step) or step < 1 or not 0 <= beta < 1:
        return 1.0
    return float(1.0 - beta**step)
