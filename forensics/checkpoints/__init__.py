"""Checkpoints: one file per format, and `discover`, which finds them without reading tensors."""

from forensics.checkpoints._discover import Discovery, discover

__all__ = ["Discovery", "discover"]
