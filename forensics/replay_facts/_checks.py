"""The smaller measurements: one value for each experiment beside the stretch."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LoadCheck:
    """How a checkpoint fits the model that the replay file builds."""

    checkpoint: str
    step: int | None
    parameters: int
    """Elements of all parameters."""
    missing: tuple[str, ...] = ()
    """Names the model has and the checkpoint lacks."""
    unexpected: tuple[str, ...] = ()
    """Names the checkpoint has and the model lacks."""
    mismatched: tuple[str, ...] = ()
    """One phrase each: the name and both shapes."""
    optimizer: bool | None = None
    """True: its state was restored; False: it does not fit; None: none was saved."""
    optimizer_trouble: str = ""
    """Why it does not fit."""

    @property
    def fits(self) -> bool:
        """True where every weight of the model came from the checkpoint."""
        return not (self.missing or self.mismatched)


@dataclass(frozen=True)
class Determinism:
    """The same step several times, then with other seeds."""

    step: int
    losses: tuple[float, ...]
    """Same weights, batch and seed."""
    grad_norms: tuple[float, ...]
    reseeded_losses: tuple[float, ...]
    """Same weights and batch, other seeds."""

    @property
    def equal_share(self) -> float:
        """Share of the repeats equal to the first in every bit of loss and gradient norm, 0..1."""
        pairs = list(zip(self.losses, self.grad_norms, strict=True))
        same = sum(str(pair) == str(pairs[0]) for pair in pairs[1:])
        return same / max(1, len(pairs) - 1)


@dataclass(frozen=True)
class LabelShifts:
    """Loss of the same outputs against labels moved along the sequence."""

    losses: Mapping[int, float]
    """Shift -> loss; 0 as the run did it."""
    permuted: float
    """Against labels in random order."""

    @property
    def best(self) -> int:
        """The shift with the lowest loss."""
        return min(self.losses, key=lambda shift: self.losses[shift])


@dataclass(frozen=True)
class Overfit:
    """One batch trained alone, and once more with its labels permuted."""

    step: int
    losses: tuple[float, ...]
    permuted_losses: tuple[float, ...] | None
    """None: the labels could not be told from the rest of the batch."""

    @property
    def falls(self) -> bool:
        """True where training on the one batch at least halves its loss."""
        return bool(self.losses) and min(self.losses[1:], default=math.inf) < 0.5 * self.losses[0]


@dataclass(frozen=True)
class LineSearch:
    """Loss of a control batch along the optimizer's own update."""

    step: int
    multiples: tuple[float, ...]
    """Multiples of the run's learning rate."""
    losses: tuple[float, ...]
    critical: float
    """Multiple at which the update stops lowering the loss; infinite where it does up to the last,
    0 where it does at none."""


@dataclass(frozen=True)
class MomentCheck:
    """Adam's state in the checkpoint against gradients replayed at it."""

    step: int
    logged_ratio: float | None
    """Logged gradient norm over the replayed one, median over the compared steps."""
    logged_spread: float | None
    """Largest factor by which a step's ratio departs from that median, at least 1."""
    moment_ratio: float | None
    """sqrt(sum of vhat) over the replayed norm of control batches (after clipping)."""
    clip_factor: float | None
    """Mean factor by which the run's clipping shrinks the control batches' norms."""
    suspect_rms: Mapping[str, float] = field(default_factory=dict)
    """RMS_t = sqrt(mean(g^2 / max(vhat, eps^2))) per tensor for the suspect batch, largest first;
    the ten largest."""
    control_rms: Mapping[str, float] = field(default_factory=dict)
    """The same tensors, median over the control batches."""


@dataclass(frozen=True)
class ModeCheck:
    """One control batch in training and in evaluation mode; only of models with BatchNorm."""

    step: int
    train_loss: float
    eval_loss: float
    recomputed_loss: float | None
    """In evaluation mode after the running statistics were taken anew over control batches."""
    batch_size: int | None
    """Samples a normalisation layer sees at once."""


@dataclass(frozen=True)
class Ranks:
    """What replaying on several ranks showed."""

    world: int
    wrapper: str
    """``DDP`` or ``FSDP2``."""
    losses: tuple[float, ...]
    """Loss of the first step on each rank."""
    mean_norm: float
    """Global gradient norm after averaging over ranks."""
    sum_norm: float
    """After summing."""
    alone_norm: float
    """Of rank 0 alone."""
    reduced_norm: float
    """As the wrapped model reduces it when the user's loss runs through it."""
    logged_norm: float | None
    weights_agree: bool
    """All ranks hold the same weights after one step."""
