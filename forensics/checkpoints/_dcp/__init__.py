"""torch's distributed checkpoints: shards of every rank, and one file that says where they are."""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.checkpoints._dcp._metadata import Metadata as Metadata
    from forensics.checkpoints._dcp._metadata import read_metadata as read_metadata
    from forensics.checkpoints._dcp._nesting import nested as nested
    from forensics.checkpoints._dcp._salvage import salvage_folder as salvage_folder
    from forensics.checkpoints._dcp._shards import Shards as Shards

METADATA = ".metadata"
"""Name of the file that says where everything is."""

__getattr__ = on_use(
    __name__,
    {
        "_metadata": ("Metadata", "read_metadata"),
        "_nesting": ("nested",),
        "_salvage": ("salvage_folder",),
        "_shards": ("Shards",),
    },
)
