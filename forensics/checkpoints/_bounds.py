"""Bounds what a checkpoint makes us read: a small file can describe more than a large disk holds.

Tied tensors are read once, and views of one storage a few times over; a file whose tensors overlap
without end, or unpack to a thousand times its size, is not read beyond a multiple of its size.
"""

from collections.abc import Iterator
from dataclasses import replace

from forensics.checkpoints._base import Opened, StoredTensor
from forensics.found import Note

MOST_TIMES = 8
FREE = 64 << 20
"""Bytes that may be read of any file, however small."""
_UNPACKING = 8
"""A byte read is worth so many unpacked."""


def within_bounds(opened: Opened) -> Opened:
    """The checkpoint, without the bytes of the tensors that exceed its bounds."""
    tensors = tuple(_bounded(opened))
    lost = sum(a is not b for a, b in zip(tensors, opened.tensors, strict=True))
    if not lost:
        return opened
    text = f"{lost:,} tensors share bytes with many others, or unpack without end; not read"
    return replace(opened, tensors=tensors, notes=(*opened.notes, Note(text, opened.path)))


def _bounded(opened: Opened) -> Iterator[StoredTensor]:
    ends: dict[str, int] = {}
    for tensor in opened.tensors:
        for extent in tensor.extents:
            ends[extent.path] = max(ends.get(extent.path, 0), extent.offset + extent.nbytes)
    left = {path: max(FREE, MOST_TIMES * end) for path, end in ends.items()}
    seen: set[str] = set()
    for tensor in opened.tensors:
        if not tensor.extents or tensor.storage in seen:
            yield tensor
            continue
        seen.add(tensor.storage)
        left[tensor.extents[0].path] -= _cost(tensor)
        if left[tensor.extents[0].path] >= 0:
            yield tensor
        else:
            why = "shares its bytes with many others, or unpacks without end"
            yield replace(tensor, extents=(), storage="", missing=why)


def _cost(tensor: StoredTensor) -> int:
    if tensor.decoder.startswith("hdf5:"):  # its extent is the whole file
        return tensor.size * tensor.dtype.size // _UNPACKING
    stored = sum(extent.nbytes for extent in tensor.extents)
    if not tensor.decoder.startswith("deflate:"):
        return stored
    unpacked = int(tensor.decoder.partition("|")[0].rpartition(":")[2])
    return max(stored, unpacked // _UNPACKING)
