"""What the values of a series of checkpoints tell, measured and not yet judged. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class WeightFacts:
    """One tensor of weights, or of running statistics, in one checkpoint; the finite part."""

    name: str
    role: str
    shape: tuple[int, ...]
    read: int
    """Elements looked at; of a very large tensor only stretches, evenly spaced."""
    non_finite: int
    negative: int
    rms: float
    abs_max: float
    largest_at: int
    """Flat index of the element of the largest magnitude."""
    runner_up: float
    """The next largest magnitude."""
    row_max: float = 0.0
    """RMS of the row (first axis) in which it is largest; 0 where there are too few rows."""
    row_at: int = 0
    row_runner_up: float = 0.0
    row_median: float = 0.0
    """Median over the rows that are not zero."""
    row_beyond_few: float = 0.0
    """RMS of the highest row but for a handful (8, or one in a thousand); 0 as above."""


@dataclass(frozen=True)
class MomentFacts:
    """What Adam's two moments of one tensor tell; the finite part."""

    name: str
    size: int
    read: int
    """Elements looked at."""
    exact: bool
    """Both are kept in 32 bits or more: the bounds that follow from Adam's definition hold."""
    update_rms: float
    """RMS of mhat / (sqrt(vhat) + eps) where v > 0."""
    update_max: float
    """Largest |m| / sqrt(v)."""
    bound: float
    """What Adam's definition lets |m| / sqrt(v) be at most; infinite where there is no bound."""
    beyond_bound: int
    """Elements above it."""
    negative: int
    """Elements of v below zero, which no mean of squares can be."""
    eps_share: float
    """Share of the elements with v > 0 whose sqrt(vhat) is below epsilon."""
    unseen: float
    """Share of elements with v = 0: they never had a gradient."""
    sum_square: float
    """Sum of vhat over all elements: the mean square of the gradient's norm, after clipping."""
    noise_floor: float = 0.23
    """What ``update_rms`` is for gradients without any direction."""
    step: float | None = None
    """The parameter's own step counter."""


@dataclass(frozen=True)
class StateFacts:
    """What a checkpoint holds besides tensors; an empty tuple or None: not there."""

    global_step: int | None = None
    epoch: float | None = None
    optimizer_steps: tuple[float, float] | None = None
    """Smallest and largest step counter of any parameter."""
    scheduler_step: int | None = None
    lr: tuple[float, ...] = ()
    """Of each parameter group."""
    initial_lr: tuple[float, ...] = ()
    scheduler_lr: tuple[float, ...] = ()
    betas: tuple[tuple[float, float], ...] = ()
    """Those that occur, each once; likewise the next two."""
    eps: tuple[float, ...] = ()
    weight_decay: tuple[float, ...] = ()
    scale: float | None = None
    """Of the gradient scaler."""


@dataclass(frozen=True)
class CheckpointFacts:
    """One checkpoint."""

    checkpoint: str
    """Its path, as in `FoundCheckpoint`."""
    step: int | None
    state: StateFacts = field(default_factory=StateFacts)
    weights: tuple[WeightFacts, ...] = ()
    """Parameters, and the running statistics of normalisation layers, in the model's order."""
    moments: tuple[MomentFacts, ...] = ()
    """Of tensors that have both; none for another optimizer than Adam's kin."""
    trained: frozenset[str] = frozenset()
    """Parameters that the optimizer keeps state for; empty where it keeps none."""
    optimizer: bool = False
    """True where there is any optimizer state at all, its settings alone included."""
    masters: bool = False
    """True where 32-bit copies of narrower weights are kept."""
    narrow: bool = False
    """True where most weights are kept in 16 bits or fewer."""

    @property
    def implied_norm(self) -> float | None:
        """Root mean square of the global gradient norm after clipping; None: no second moments."""
        if not self.moments:
            return None
        return float(sum(m.sum_square for m in self.moments) ** 0.5)


@dataclass(frozen=True)
class WeightChange:
    """One tensor of weights in two checkpoints."""

    name: str
    shape: tuple[int, ...]
    read: int
    moved: float
    """Share of elements whose bits differ, 0 to 1."""
    relative: float
    """RMS of the difference over RMS of the earlier; NaN where that is zero."""

    @property
    def identical(self) -> bool:
        """True where no bit differs, of weights that are neither zero nor not finite."""
        return self.moved == 0 and self.relative == 0


@dataclass(frozen=True)
class MomentChange:
    """The second moment of one tensor in two checkpoints."""

    name: str
    shape: tuple[int, ...]
    compared: int
    """Elements with v > 0 in the earlier one."""
    too_low: float
    """Share of them with v2 < b2^D v1, which no gradient can bring about."""
    no_gradient: float
    """Share of them with v2 = b2^D v1: not one gradient in D steps."""
    rows: int
    """Rows (first axis) with any such element; 0 for vectors."""
    silent_rows: int
    """Rows of which every element had no gradient."""


@dataclass(frozen=True)
class UpdateFit:
    """The way of one tensor over a single step, held against what Adam's state makes of it."""

    name: str
    read: int
    rate: float
    """Learning rate that fits best."""
    residual: float
    """Share of the way, by RMS, that neither the moments nor a decay of the weights explain."""
    rounding: float
    """Share of it that rounding of the weights alone can make."""


@dataclass(frozen=True)
class CheckpointPair:
    """Two checkpoints, the later against the earlier."""

    earlier: str
    later: str
    steps: int
    """Optimizer steps between them by the run's numbering."""
    weights: tuple[WeightChange, ...] = ()
    moments: tuple[MomentChange, ...] = ()
    trained: frozenset[str] = frozenset()
    """Parameters for which either keeps optimizer state; empty: not known."""
    updates: tuple[UpdateFit, ...] = ()
    """Of two checkpoints that are one step apart, with Adam's state."""


@dataclass(frozen=True)
class ReplicaFacts:
    """Copies that several ranks keep of the same parameters at one step."""

    checkpoint: str
    step: int | None
    ranks: tuple[str, ...]
    compared: int
    """Parameters that all copies hold in the same shape."""
    differing: Mapping[str, float]
    """Of those that differ: name -> largest share of elements that differ from the first copy."""
    norms_compared: int
    """Vectors of normalisation layers among them: no kind of sharding splits these."""
    norms_differing: int


@dataclass(frozen=True)
class CheckpointSurvey:
    """What was measured over the checkpoints of one run."""

    checkpoints: tuple[CheckpointFacts, ...] = ()
    """By step; those that were looked at."""
    pairs: tuple[CheckpointPair, ...] = ()
    """Neighbours among them."""
    replicas: tuple[ReplicaFacts, ...] = ()

    def of(self, path: str) -> CheckpointFacts | None:
        """The facts of one checkpoint."""
        return next((c for c in self.checkpoints if c.checkpoint == path), None)
