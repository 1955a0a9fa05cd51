"""Checkpoints: one file per format, and `discover`, which finds them without reading tensors."""

from forensics.checkpoints._discover import Discovery, discover
from forensics.checkpoints._names import is_step_folder

__all__ = ["Discovery", "discover", "is_step_folder"]
