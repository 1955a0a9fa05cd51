"""What `torch.save` writes: a pickle of the object, and the bytes of its storages beside it."""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.checkpoints._torch._archive import TorchFile as TorchFile
    from forensics.checkpoints._torch._archive import open_archive as open_archive
    from forensics.checkpoints._torch._pickle import named_and_length as named_and_length
    from forensics.checkpoints._torch._pickle import with_enough as with_enough
    from forensics.checkpoints._torch._stream import open_stream as open_stream
    from forensics.checkpoints._torch._tensors import TENSOR_CONSTRUCTORS as TENSOR_CONSTRUCTORS

LEGACY_MAGIC = bytes.fromhex("80028a0a6cfc9c46f9206aa85019")
"""Begins what was written before 1.6: a pickled number."""

__getattr__ = on_use(
    __name__,
    {
        "_archive": ("TorchFile", "open_archive"),
        "_pickle": ("named_and_length", "with_enough"),
        "_stream": ("open_stream",),
        "_tensors": ("TENSOR_CONSTRUCTORS",),
    },
)
