"""Checkpoints: one file per format.

`discover` finds them, `open_checkpoint` reads their headers, `decoded_chunks` spells out the bytes
of a tensor that is not stored as it is.
"""

from forensics.checkpoints._base import (
    DType,
    Extent,
    Opened,
    Opener,
    Role,
    StoredTensor,
    TrainingState,
)
from forensics.checkpoints._decoding import decoded_chunks
from forensics.checkpoints._discover import Discovery, discover
from forensics.checkpoints._names import is_step_folder
from forensics.checkpoints._opening import open_checkpoint

__all__ = [
    "DType",
    "Discovery",
    "Extent",
    "Opened",
    "Opener",
    "Role",
    "StoredTensor",
    "TrainingState",
    "decoded_chunks",
    "discover",
    "is_step_folder",
    "open_checkpoint",
]
