"""How Keras lays out models and optimizers in HDF5, in its current and in its older formats."""

from forensics.checkpoints._keras._layout import parts_of
from forensics.checkpoints._keras._settings import optimizer_settings

__all__ = ["optimizer_settings", "parts_of"]
