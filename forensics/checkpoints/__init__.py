"""Checkpoints: one file per format.

`discover` finds them, `open_checkpoint` reads their headers, `decoded_chunks` spells out the bytes
of a tensor that is not stored as it is.

Every opener is loaded to be asked whether a checkpoint is its own, so it begins with what tells
the format by sight; the packages that read it (``_torch``, ``_hdf5`` ...) are loaded when they are
first used.
"""

from typing import TYPE_CHECKING

from forensics.checkpoints._base import (
    DType,
    Extent,
    Opened,
    Opener,
    Role,
    StoredTensor,
    TrainingState,
)
from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.checkpoints._decoding import decoded_chunks as decoded_chunks
    from forensics.checkpoints._discover import Discovery as Discovery
    from forensics.checkpoints._discover import discover as discover
    from forensics.checkpoints._names import is_step_folder as is_step_folder
    from forensics.checkpoints._opening import open_checkpoint as open_checkpoint
    from forensics.checkpoints._opening import open_found as open_found
    from forensics.checkpoints._told import told_by as told_by

__all__ = ["DType", "Extent", "Opened", "Opener", "Role", "StoredTensor", "TrainingState"]

__getattr__ = on_use(
    __name__,
    {
        "_decoding": ("decoded_chunks",),
        "_discover": ("Discovery", "discover"),
        "_names": ("is_step_folder",),
        "_opening": ("open_checkpoint", "open_found"),
        "_told": ("told_by",),
    },
)
