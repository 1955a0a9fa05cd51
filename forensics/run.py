"""What a run left behind, as read: nothing here is smoothed, filled or interpreted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forensics.found import FoundCheckpoint as FoundCheckpoint
from forensics.found import Note as Note
from forensics.signals import Signal, signal_of

if TYPE_CHECKING:
    import pandas as pd

Steps = NDArray[np.int64]
Values = NDArray[np.float64]


class Axis(StrEnum):
    """What the x-axis of a series counts."""

    STEP = "step"
    EPOCH = "epoch"
    SAMPLES = "samples"
    ROW = "row"  # nothing was logged to count by: the position in the file

    @property
    def noun(self) -> str:
        """One of what it counts, in words."""
        return self.value.removesuffix("s")


@dataclass(frozen=True, eq=False)
class Series:
    """One logged quantity, in the order in which it was written."""

    tag: str
    """The name as logged."""
    step: Steps
    """Shape (n,), file order; goes back where a resume rewinds."""
    value: Values
    """Shape (n,); non-finite values are kept. A point that was not logged is absent, never NaN."""
    source: str
    """The file, relative to the run directory, with ``/``."""
    wall_time: Values | None = None
    """Shape (n,), seconds since the epoch, or None."""
    axis: Axis = Axis.STEP
    run: str = ""
    """Name of the run inside the file, where one file holds several."""
    digits: int | None = None
    """Decimals the logger printed, where it rounds (4.x of transformers: 4); None: not rounded."""

    @property
    def signal(self) -> Signal:
        """The quantity this series logs."""
        return signal_of(self.tag, self.source)


class TextKind(StrEnum):
    """What a line of text proves."""

    TRACEBACK = "traceback"
    OUT_OF_MEMORY = "out_of_memory"
    KILLED = "killed"  # a signal, an out-of-memory killer
    TIME_LIMIT = "time_limit"
    LOST_PEER = "lost_peer"  # collective time-out, NCCL error, lost rank
    DISK_FULL = "disk_full"
    DEVICE_ASSERT = "device_assert"
    LABEL_OUT_OF_RANGE = "label_out_of_range"
    INDEX_OUT_OF_RANGE = "index_out_of_range"  # position or token beyond a table
    HARDWARE_ERROR = "hardware_error"  # Xid, ECC, uncorrectable
    OVERFLOW = "overflow"  # a step skipped by the loss scaler
    LOSS_SCALE_MINIMUM = "loss_scale_minimum"
    NON_FINITE_ABORT = "non_finite_abort"  # the framework stopped because of NaN or Inf
    NON_FINITE_GUARD = "non_finite_guard"  # the framework skipped a step because of NaN or Inf
    RESUMED = "resumed"
    SCHEDULER_NOT_RESTORED = "scheduler_not_restored"
    OPTIMIZER_NOT_RESTORED = "optimizer_not_restored"
    WEIGHTS_NOT_LOADED = "weights_not_loaded"  # "newly initialized", missing keys
    PRETRAINED = "pretrained"  # the run says that it starts from trained weights
    GRADIENTS_ABSENT = "gradients_absent"  # the framework warns that weights get no gradient
    SEQUENCE_TOO_LONG = "sequence_too_long"
    CHECKPOINT_SAVED = "checkpoint_saved"
    RUN_STARTED = "run_started"  # a header that opens an attempt
    RUN_FINISHED = "run_finished"
    INTERRUPTED = "interrupted"  # KeyboardInterrupt, early stopping by a person


@dataclass(frozen=True)
class TextEvidence:
    """One line of a log that proves something by itself."""

    kind: TextKind
    text: str
    """The line, ANSI codes removed, at most 400 characters."""
    source: str
    line: int
    """1-based line number in ``source``."""
    step: int | None = None
    """The last step logged before the line, where there is one."""


@dataclass(frozen=True)
class FileRecord:
    """One line of the inventory: a file and what was read from it."""

    path: str
    size: int
    format: str
    """Name of the reader, or '' where none took the file."""
    summary: str
    """What was read ('3 series, 1,200 points') or why nothing was."""


@dataclass(frozen=True)
class Config:
    """The settings a run was started with; None where the run does not say."""

    framework: str | None = None
    optimizer: str | None = None
    precision: str | None = None
    """One of fp32, tf32, fp16, bf16, fp8."""
    loss_scale: float | None = None
    """Initial or static loss scale; 0 means dynamic."""
    lr_peak: float | None = None
    lr_min: float | None = None
    schedule: str | None = None
    warmup_steps: int | None = None
    warmup_ratio: float | None = None
    total_steps: int | None = None
    epochs: float | None = None
    betas: tuple[float, float] | None = None
    eps: float | None = None
    weight_decay: float | None = None
    clip_threshold: float | None = None
    """Global gradient-norm threshold; 0 means that clipping is off."""
    micro_batch: int | None = None
    grad_accum: int | None = None
    world_size: int | None = None
    global_batch: int | None = None
    seq_len: int | None = None
    seed: int | None = None
    num_classes: int | None = None
    vocab_size: int | None = None
    num_layers: int | None = None
    hidden_size: int | None = None
    model: str | None = None
    pretrained: bool | None = None
    """True where training starts from pretrained weights."""
    lora: bool | None = None
    normalization: str | None = None
    """batchnorm, layernorm, rmsnorm, groupnorm or none, where the configuration says."""
    activation: str | None = None
    nan_filter: bool | None = None
    """transformers' logging_nan_inf_filter."""
    log_interval: int | None = None
    save_interval: int | None = None
    eval_interval: int | None = None
    save_total_limit: int | None = None
    shuffle: bool | None = None
    resume_from: str | None = None
    started: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    """Field name -> file it came from."""
    raw: Mapping[str, Any] = field(default_factory=dict)
    """Every setting as read, keys flattened with '.', first source wins."""

    @property
    def effective_batch(self) -> int | None:
        """Samples per optimizer step: given, or micro-batch x accumulation x world size."""
        if self.global_batch is not None:
            return self.global_batch
        if self.micro_batch is None:
            return None
        return self.micro_batch * (self.grad_accum or 1) * (self.world_size or 1)


@dataclass(frozen=True, eq=False)
class Run:
    """Everything one run left, before any judgement."""

    path: Path
    name: str = ""
    """'' where the folder holds one run; else the name that ``--run`` takes."""
    series: tuple[Series, ...] = ()
    config: Config = field(default_factory=Config)
    checkpoints: tuple[FoundCheckpoint, ...] = ()
    batches: tuple[str, ...] = ()
    """Captured batches, relative paths."""
    text: tuple[TextEvidence, ...] = ()
    files: tuple[FileRecord, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def home(self) -> Path:
        """The folder that the paths of its files are relative to."""
        return self.path if self.path.is_dir() else self.path.parent

    @property
    def frame(self) -> "pd.DataFrame":
        """All logged points as one long table, non-finite values kept.

        Returns:
            Columns step, signal, value, wall_time (seconds since the epoch, NaN where unknown),
            source, tag, axis; rows in the order of the files.
        """
        import pandas as pd  # only a notebook needs it, and it is slow to import

        parts = [
            pd.DataFrame(
                {
                    "step": s.step,
                    "signal": str(s.signal),
                    "value": s.value,
                    "wall_time": np.nan if s.wall_time is None else s.wall_time,
                    "source": s.source,
                    "tag": s.tag,
                    "axis": str(s.axis),
                }
            )
            for s in self.series
        ]
        columns = ["step", "signal", "value", "wall_time", "source", "tag", "axis"]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
