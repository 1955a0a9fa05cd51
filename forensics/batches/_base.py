"""What a check of the batches is: it takes a sight of each batch, then judges one by the others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._limits import Limits
from forensics.batches._parts import Batch


@dataclass(frozen=True, eq=False)
class Sight:
    """What one check saw of one tensor of one batch; small, while the batch itself is let go."""

    tensor: str
    hits: int
    """Samples (or tokens, labels) that show it."""
    of: int
    """Out of how many."""
    value: float | None = None
    """The number that gives it away."""
    level: float | None = None
    """A second number, where the check needs one."""
    certain: bool = False
    """True where a fault shows by itself; False: only against control batches."""
    detail: str = ""
    each: NDArray[np.float64] | None = None
    """A number for each sample, shape (samples,), where the check needs them."""
    counts: Mapping[int, int] = field(default_factory=dict)
    """Label -> how often, where it counts labels."""

    @property
    def share(self) -> float:
        """Of the batch, 0 to 1."""
        return self.hits / self.of if self.of else 0.0


@dataclass(frozen=True)
class Check:
    """One kind of oddity."""

    oddity: Oddity
    look: Callable[[Batch, Limits], Iterable[Sight]]
    """At most one sight for each tensor that it applies to; also where nothing is wrong. It must
    not depend on the order of the samples."""
    judge: Callable[[Sight, Sequence[Sight]], BatchFinding | None]
    """Holds a sight against those of the control batches. Those are fewer than `LEAST_CONTROLS`
    only where the sight is certain."""


LEAST_CONTROLS = 3
"""Batches from which one can tell what is usual."""
