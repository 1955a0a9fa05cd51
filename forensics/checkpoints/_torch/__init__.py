"""What `torch.save` writes: a pickle of the object, and the bytes of its storages beside it."""

from forensics.checkpoints._torch._archive import TorchFile, open_archive
from forensics.checkpoints._torch._pickle import named_and_length, with_enough
from forensics.checkpoints._torch._stream import LEGACY_MAGIC, open_stream
from forensics.checkpoints._torch._tensors import TENSOR_CONSTRUCTORS, Parameter

__all__ = [
    "LEGACY_MAGIC",
    "TENSOR_CONSTRUCTORS",
    "Parameter",
    "TorchFile",
    "named_and_length",
    "open_archive",
    "open_stream",
    "with_enough",
]
