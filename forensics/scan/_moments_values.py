"""Streams the values of tensors, side by side, in stretches; of very large ones not all.

Facts about moments are about distributions: of a tensor of a billion elements some thousand
stretches tell the same as all of it, and the full count of what is not finite has been done before.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any

import numpy as np

from forensics.checkpoints import DType, StoredTensor, decoded_chunks
from forensics.errors import UnreadableFile
from forensics.scan.element_types import NATIVE, Bits, Bytes, Doubles, table_of, widened
from forensics.scan.planning import between
from forensics.scan.reading import EndedEarlyError, Files

BLOCK = 1 << 15
"""Elements of a stretch: as float64 it fits the second-level cache."""
_NUMPY: dict[DType, np.dtype[Any]] = {
    **{dtype: np.dtype(own) for dtype, own in NATIVE.items()},
    DType.I64: np.dtype("<i8"),
    DType.I32: np.dtype("<i4"),
    DType.I16: np.dtype("<i2"),
}


def is_readable(tensor: StoredTensor) -> bool:
    """True where its values can be had, all of them."""
    known = tensor.dtype in _NUMPY or tensor.dtype is DType.BF16
    there = bool(tensor.extents) and not tensor.missing
    return there and (known or table_of(tensor.dtype) is not None)


def doubles(data: Bytes, dtype: DType) -> Doubles:
    """Bytes of whole elements as numbers, shape (n,)."""
    if dtype is DType.BF16:
        wide = np.empty(len(data) // 2, np.uint32)
        return widened(data.view(np.uint16), wide).astype(np.float64)
    table = table_of(dtype)
    if table is not None:
        return table[data]
    values: Doubles = data.view(_NUMPY[dtype]).astype(np.float64)
    return values


def stretches(size: int, most: int) -> list[tuple[int, int]]:
    """Ranges of elements to read: all of them, or about ``most``, evenly spaced.

    Args:
        size: Elements of the tensor.
        most: How many of them may be read.
    """
    count = max(1, most // BLOCK)
    starts: Sequence[int] = range(0, size, BLOCK)
    if size > max(most, BLOCK):  # the first and the last stretch are always among them
        starts = sorted({i * (size - BLOCK) // max(count - 1, 1) for i in range(count)})
    return [(start, min(start + BLOCK, size)) for start in starts]


def side_by_side(
    tensors: Sequence[StoredTensor], most: int
) -> Iterator[tuple[int, tuple[Bytes, ...]]]:
    """The same stretches of several tensors of one size.

    Args:
        tensors: For all of which `is_readable` holds.
        most: Elements to read of each.

    Yields:
        Index of the first element, and the bytes of the stretch in each tensor.

    Raises:
        UnreadableFile: A file cannot be read, or no longer holds what it did.
    """
    ranges = stretches(tensors[0].size, most)
    with ExitStack() as stack:
        streams = []
        for tensor in tensors:
            files = stack.enter_context(Files())
            streams.append(
                _encoded(tensor, ranges) if tensor.decoder else _raw(tensor, ranges, files)
            )
        try:
            for (start, _), *parts in zip(ranges, *streams, strict=True):
                yield start, tuple(parts)
        except (OSError, EndedEarlyError) as error:
            raise UnreadableFile(f"{tensors[0].name}: {error}") from error


def values_of(
    tensors: Sequence[StoredTensor], most: int
) -> Iterator[tuple[int, tuple[Doubles, ...]]]:
    """As `side_by_side`, but numbers."""
    for start, parts in side_by_side(tensors, most):
        yield start, tuple(doubles(p, t.dtype) for p, t in zip(parts, tensors, strict=True))


def as_bits(data: Bytes, dtype: DType) -> Bits:
    """Elements as unsigned integers of their own width, to be compared bit by bit."""
    return data.view(np.dtype(f"<u{dtype.size}"))


def _raw(tensor: StoredTensor, ranges: Sequence[tuple[int, int]], files: Files) -> Iterator[Bytes]:
    width = tensor.dtype.size
    for start, stop in ranges:
        extents = tuple(between(tensor.extents, start * width, stop * width))
        # Each chunk is the thread's own buffer, so it has to be copied to be kept.
        parts = [chunk.copy() for chunk in files.chunks(extents, width)]
        yield parts[0] if len(parts) == 1 else np.concatenate(parts)


def _encoded(tensor: StoredTensor, ranges: Sequence[tuple[int, int]]) -> Iterator[Bytes]:
    """Everything is spelled out, for what lies between two stretches cannot be skipped."""
    width, at, held = tensor.dtype.size, 0, b""
    pieces = decoded_chunks(tensor)
    for start, stop in ranges:
        while at + len(held) < stop * width:
            beyond = max(0, start * width - at)
            at, held = at + min(beyond, len(held)), held[beyond:]
            piece = next(islice(pieces, 1), b"")
            if not piece:
                raise UnreadableFile(f"{tensor.name}: its bytes end early")
            held += piece
        yield np.frombuffer(held[start * width - at : stop * width - at], np.uint8)
