"""torch's distributed checkpoints: shards of every rank, and one file that says where they are."""

from forensics.checkpoints._dcp._metadata import METADATA, Metadata, read_metadata
from forensics.checkpoints._dcp._nesting import nested
from forensics.checkpoints._dcp._salvage import salvage_folder
from forensics.checkpoints._dcp._shards import Shards

__all__ = ["METADATA", "Metadata", "Shards", "nested", "read_metadata", "salvage_folder"]
