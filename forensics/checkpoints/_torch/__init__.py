"""What `torch.save` writes: a pickle of the object, and the bytes of its storages beside it."""

from forensics.checkpoints._torch._archive import TorchFile, open_archive
from forensics.checkpoints._torch._pickle import Locate, StorageId, read_object, storages_named_in
from forensics.checkpoints._torch._stream import LEGACY_MAGIC, open_stream

__all__ = [
    "LEGACY_MAGIC",
    "Locate",
    "StorageId",
    "TorchFile",
    "open_archive",
    "open_stream",
    "read_object",
    "storages_named_in",
]
