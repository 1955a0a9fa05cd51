"""What replaying the run told: one value per experiment, measured and not yet judged.

Values only. An experiment that was not done is None or an empty tuple; `ReplayFacts.left_out` and
`ReplayFacts.failures` say why.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from forensics.batch_facts import BatchSurvey


class Role(StrEnum):
    """Which checkpoint a batch was measured at."""

    BEFORE = "before"  # the last healthy one before the onset
    EARLIER = "earlier"  # a much earlier one
    INITIAL = "initial"  # freshly built weights: the run left no checkpoint from before the onset


class Phase(StrEnum):
    """Part of a training step."""

    INPUT = "input"  # the batch itself
    FORWARD = "forward"
    LOSS = "loss"  # the part of the forward pass that is outside every module
    BACKWARD = "backward"
    UPDATE = "update"


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
class BatchMeasure:
    """One batch, forward and backward, at given weights; nothing is updated."""

    step: int
    loss: float
    grad_norm: float
    """Global L2 norm before clipping."""
    group_norms: Mapping[str, float]
    """L2 norm per group of parameters (embedding, block 0 ... head), in the model's order."""
    update_ratio: float
    """L2 norm of the update the optimizer would make over the L2 norm of the weights."""
    worst_share: float | None = None
    """Share of the batch's loss that its worst tenth of samples carries; None: not separable."""


@dataclass(frozen=True)
class Comparison:
    """The suspect batch against control batches at the same weights."""

    role: Role
    checkpoint: str
    """Empty for freshly built weights."""
    step: int | None
    suspect: BatchMeasure
    controls: tuple[BatchMeasure, ...]
    loss_z: float
    """Robust standard deviations by which the suspect's loss is above the controls'."""
    grad_z: float
    """The same for the logarithm of the gradient norm."""

    @property
    def control_loss(self) -> float:
        """Median loss of the controls."""
        ordered = sorted(c.loss for c in self.controls)
        return ordered[len(ordered) // 2] if ordered else math.nan


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
class Trajectory:
    """A stretch of training, replayed; one point per optimizer step."""

    steps: tuple[int, ...]
    """In the run's own numbering."""
    loss: tuple[float, ...]
    grad_norm: tuple[float, ...]
    """Before clipping."""
    excess: float
    """Loss above the level before the onset, in nats, that the failure shows: of the spike where it
    passes, of the end where it stays; infinite where the loss or the gradient is not finite."""
    complete: bool = True
    """False where the budget ended it."""

    @property
    def first_non_finite(self) -> int | None:
        """First step whose loss or gradient norm is not finite."""
        rows = zip(self.steps, self.loss, self.grad_norm, strict=True)
        return next((s for s, a, b in rows if not (math.isfinite(a) and math.isfinite(b))), None)


@dataclass(frozen=True)
class AsRun:
    """The trajectory with the run's own settings, against what the run logged."""

    trajectory: Trajectory
    compared: int
    """Logged points of the loss inside the stretch."""
    exact: int
    """Of them equal to every digit the log holds."""
    parts_at: int | None
    """First logged step whose loss differs by more than rounding; None: none does."""
    logged_excess: float
    """`Trajectory.excess` of the logged losses; NaN where too few were logged."""
    reproduces: bool | None
    """Whether the failure came again; None: the stretch did not reach it."""
    matches_log: float | None = None
    """Median distance from the logged losses in nats; None: too few were logged."""


class Variant(StrEnum):
    """One variable changed from the run's own settings."""

    RATE_THIRD = "rate_third"
    RATE_TENTH = "rate_tenth"
    RATE_TEN_TIMES = "rate_ten_times"
    WARMUP = "warmup"
    CLIP_ONE = "clip_one"
    CLIP_P90 = "clip_p90"
    SKIP_BATCH = "skip_batch"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FRESH_MOMENTS = "fresh_moments"
    BETA2 = "beta2"
    EPSILON = "epsilon"
    NO_DECAY = "no_decay"
    MICRO_BATCHES_SUMMED = "micro_batches_summed"  # where their mean was meant
    RANKS_SUMMED = "ranks_summed"
    FROM_STEP_ONE = "from_step_one"  # moments kept, bias correction counted from one


@dataclass(frozen=True)
class Counterfactual:
    """The same stretch with one variable changed."""

    variant: Variant
    setting: str
    """The setting as the report names it, such as 'lr'."""
    before: str
    after: str
    """Both in words, with this run's numbers."""
    trajectory: Trajectory
    removes: bool
    """The failure of the run as it was does not come."""
    clip: float | None = None
    """The norm it clips at, where clipping is what it changes."""
    matches_log: float | None = None
    """Median distance from the logged losses in nats; None: too few were logged."""


@dataclass(frozen=True)
class NonFiniteOperation:
    """The first operation of a step that gave a non-finite value from finite ones."""

    step: int
    precision: str
    """``as_run`` precision such as fp16, or fp32."""
    phase: Phase
    operation: str
    """torch's name of it, such as ``log`` or ``native_layer_norm``; in the backward pass of the one
    whose derivative it was. ``input``, ``parameter`` or ``buffer`` where the step began with it."""
    module: str
    """Path of the module in which it ran, '' outside every module."""
    kind: str
    """``nan`` or ``inf``."""
    inputs: tuple[str, ...]
    """One phrase per tensor that went in: dtype, shape, range."""
    culprit: str = ""
    """What about the inputs made it so, such as 'zeros in the argument', where it can be told."""
    location: str = ""
    """``file:line`` of the user's code that called it, where it is known."""


@dataclass(frozen=True)
class NonFiniteSearch:
    """One step watched operation by operation."""

    step: int
    precision: str
    found: NonFiniteOperation | None
    """None: everything stayed finite."""


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


@dataclass(frozen=True)
class ReplayFacts:
    """Everything the replay told about one run."""

    source: str
    """The replay file, or the adapter that stood in for it."""
    device: str
    """``cpu`` or ``cuda:0``, with the reason for the choice in words."""
    precision: str
    """fp32, bf16 or fp16, as the run trained."""
    seconds: float
    """Wall time of the whole battery."""
    budget: float
    suspect_step: int | None = None
    checkpoint: str = ""
    """The one replayed from, relative to the run; '': freshly built weights."""
    checkpoint_step: int | None = None
    next_step: int | None = None
    """The first step replayed from it."""
    alignment: str = ""
    """How ``next_step`` was found, in words."""
    loads: tuple[LoadCheck, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    determinism: Determinism | None = None
    as_run: AsRun | None = None
    searches: tuple[NonFiniteSearch, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()
    shifts: LabelShifts | None = None
    overfit: Overfit | None = None
    line: LineSearch | None = None
    moments: MomentCheck | None = None
    modes: ModeCheck | None = None
    ranks: Ranks | None = None
    audit: BatchSurvey | None = None
    """The contents of the suspect batch and its controls, as the replay file loads them."""
    seconds_of: Mapping[str, float] = field(default_factory=dict)
    """Experiment -> wall time."""
    left_out: tuple[str, ...] = ()
    """Experiments that were not done, each with its reason."""
    failures: tuple[str, ...] = ()
    """What went wrong in the user's functions: one plain message each, naming file and line."""

    def variant(self, variant: Variant) -> Counterfactual | None:
        """One counterfactual, or None where it was not run."""
        return next((c for c in self.counterfactuals if c.variant is variant), None)

    def comparison(self, role: Role) -> Comparison | None:
        """The comparison at one checkpoint, or None where it was not made."""
        return next((c for c in self.comparisons if c.role is role), None)
