"""Numbers and rows taken from any place of a buffer, many at a time."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Index = NDArray[np.int64]


def rows_at(data: Bytes, start: Index, width: int) -> Bytes:
    """The bytes ``data[start:start + width]``, one row for each ``start``.

    An opaque element of ``width`` bytes is copied whole, many times faster than byte by byte.

    Args:
        data: Shape (size,), contiguous.
        start: Shape (n,), each at most ``size - width``.
        width: Bytes to take, at least 1.

    Returns:
        Shape (n, width), a copy.
    """
    pieces: NDArray[np.void] = np.ndarray(
        (max(len(data) - width + 1, 0),), f"V{width}", buffer=data, strides=(1,)
    )
    return pieces[start].view(np.uint8).reshape(len(start), width)


def u32_at(data: Bytes, start: Index) -> NDArray[np.uint32]:
    """Shape (n,): little-endian numbers, aligned or not."""
    every: NDArray[np.uint32] = np.ndarray(
        (max(len(data) - 3, 0),), "<u4", buffer=data, strides=(1,)
    )
    return every[start]


def u64_at(data: Bytes, start: Index) -> NDArray[np.uint64]:
    """Shape (n,): little-endian numbers, aligned or not."""
    every: NDArray[np.uint64] = np.ndarray(
        (max(len(data) - 7, 0),), "<u8", buffer=data, strides=(1,)
    )
    return every[start]
