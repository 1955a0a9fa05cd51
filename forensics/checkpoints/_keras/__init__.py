"""How Keras lays out models and optimizers in HDF5, in its current and in its older formats."""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.checkpoints._keras._layout import parts_of as parts_of
    from forensics.checkpoints._keras._settings import optimizer_settings as optimizer_settings

__getattr__ = on_use(
    __name__,
    {
        "_layout": ("parts_of",),
        "_settings": ("optimizer_settings",),
    },
)
