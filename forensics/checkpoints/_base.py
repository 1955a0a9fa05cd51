"""What a checkpoint format is: it says where the bytes of each tensor lie, and reads none of them.

`open_checkpoint` gives names, shapes and byte ranges; ``scan`` reads the ranges. So every format
gains the fast pass, and a file of any size opens in the time of its header.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from forensics.found import Note


class DType(StrEnum):
    """Element types, by safetensors' names."""

    F64 = "F64"
    F32 = "F32"
    F16 = "F16"
    BF16 = "BF16"
    F8_E4M3 = "F8_E4M3"
    F8_E5M2 = "F8_E5M2"
    F8_E4M3FNUZ = "F8_E4M3FNUZ"
    F8_E5M2FNUZ = "F8_E5M2FNUZ"
    C64 = "C64"
    C128 = "C128"
    I64 = "I64"
    I32 = "I32"
    I16 = "I16"
    I8 = "I8"
    U64 = "U64"
    U32 = "U32"
    U16 = "U16"
    U8 = "U8"
    BOOL = "BOOL"
    OTHER = "OTHER"
    """Packed or unknown: its size is counted, its values are not read."""

    @property
    def size(self) -> int:
        """Bytes of one element; 0 for `OTHER`."""
        return _SIZES[self]

    @property
    def is_floating(self) -> bool:
        """True where NaN and infinity can occur (FNUZ has NaN alone)."""
        return self.value.startswith(("F", "C", "BF"))


_SIZES = {
    DType.F64: 8,
    DType.F32: 4,
    DType.F16: 2,
    DType.BF16: 2,
    DType.F8_E4M3: 1,
    DType.F8_E5M2: 1,
    DType.F8_E4M3FNUZ: 1,
    DType.F8_E5M2FNUZ: 1,
    DType.C64: 8,
    DType.C128: 16,
    DType.I64: 8,
    DType.I32: 4,
    DType.I16: 2,
    DType.I8: 1,
    DType.U64: 8,
    DType.U32: 4,
    DType.U16: 2,
    DType.U8: 1,
    DType.BOOL: 1,
    DType.OTHER: 0,
}


class Role(StrEnum):
    """What a tensor is to the training."""

    PARAM = "param"
    BUFFER = "buffer"
    EXP_AVG = "exp_avg"
    EXP_AVG_SQ = "exp_avg_sq"
    MASTER = "master"  # float32 copy of a half-precision parameter
    SCALER = "scaler"
    OTHER = "other"


@dataclass(frozen=True)
class Extent:
    """A run of raw little-endian bytes of one file."""

    path: str
    """Absolute local path or fsspec address."""
    offset: int
    nbytes: int


@dataclass(frozen=True)
class StoredTensor:
    """One tensor: where its bytes lie. Plain and picklable, so that it can be sent to a worker."""

    name: str
    """Of the model where known (``layers.0.weight``); for optimizer state, of its parameter."""
    role: Role
    dtype: DType
    shape: tuple[int, ...]
    extents: tuple[Extent, ...] = ()
    """In element order; () where the bytes are not there."""
    storage: str = ""
    """Equal for tensors that share bytes (tied weights, views): scanned and counted once."""
    missing: str = ""
    """Why some or all of its bytes cannot be read, or ''."""
    decoder: str = ""
    """'' for raw bytes; else the name of a registered decoder (HDF5 chunks, deflated members)."""
    rank: int | None = None
    """The rank that wrote it, where every rank keeps a copy."""
    stride: tuple[int, ...] = ()
    """Elements between neighbours, by dimension, where its bytes lie in another order than its
    elements (a transposed view) or stand for several of them (an expanded one); () in order."""

    @property
    def size(self) -> int:
        """Number of elements."""
        total = 1
        for length in self.shape:
            total *= length
        return total


@dataclass(frozen=True)
class Parameter:
    """A tensor of which the save says that it is a parameter of a module."""

    tensor: StoredTensor


Key = int | str
"""How an optimizer counts its parameters: by number, or by name."""


@dataclass(frozen=True, eq=False)
class TrainingState:
    """Everything in a checkpoint that is not a tensor and says how training stood."""

    global_step: int | None = None
    epoch: float | None = None
    param_groups: tuple[Mapping[str, Any], ...] = ()
    """Settings as the optimizer held them: lr, betas, eps, weight_decay …"""
    optimizer_steps: Mapping[str, float] = field(default_factory=dict)
    """Parameter name -> Adam's step counter."""
    scheduler: Mapping[str, Any] = field(default_factory=dict)
    scaler: Mapping[str, Any] = field(default_factory=dict)
    """scale, growth_tracker, growth_interval …"""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Configuration found inside (Megatron's args, DeepSpeed's ds_config)."""


@dataclass(frozen=True, eq=False)
class Opened:
    """A checkpoint whose header has been read."""

    path: str
    format: str
    tensors: tuple[StoredTensor, ...]
    state: TrainingState = field(default_factory=TrainingState)
    notes: tuple[Note, ...] = ()
    """Damage, missing shards or ranks, anything that was left out."""


@dataclass(frozen=True)
class Opener:
    """One checkpoint format."""

    name: str
    order: int
    """Openers are asked in this order: 10 folders of a framework, 20 exact magic, 90 fallback."""
    sniff: Callable[[Path], bool]
    """By bytes and structure, never by extension; never raises but for OSError."""
    open: Callable[[Path], Opened]
    """Raises:
        UnreadableFile: nothing at all could be read from it.
    """
