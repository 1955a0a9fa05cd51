"""The samples of a tensor, one row each, in blocks: what is computed never outgrows a block."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from forensics.batches._parts import Array

BLOCK = 1 << 21
"""Elements of a block, unless a single sample is larger."""


def blocks(values: Array) -> Iterator[Array]:
    """Rows of shape (samples of the block, elements of a sample)."""
    width = max(values[:1].size, 1)
    step = max(BLOCK // width, 1)
    for start in range(0, len(values), step):
        block = values[start : start + step]
        yield block.reshape(len(block), -1)


def largest(values: Array) -> NDArray[np.float64]:
    """Largest finite magnitude of each sample, shape (samples,); 0 where none is finite."""
    return np.concatenate([_largest(block) for block in blocks(values)])


def _largest(block: Array) -> NDArray[np.float64]:
    size = np.abs(block if block.dtype.kind == "f" else block.astype(np.float64))
    top = size.max(axis=1, initial=0.0)
    if not np.isfinite(top).all():
        size[~np.isfinite(size)] = 0.0
        top = size.max(axis=1, initial=0.0)
    return np.asarray(top, np.float64)


def constant(values: Array) -> NDArray[np.bool_]:
    """Which samples consist of one value alone, NaN included, shape (samples,)."""
    return np.concatenate([_constant(block) for block in blocks(values)])


def _constant(block: Array) -> NDArray[np.bool_]:
    same = block == block[:, :1]
    if block.dtype.kind == "f" and np.isnan(block[:, 0]).any():
        same |= np.isnan(block) & np.isnan(block[:, :1])
    return np.asarray(same.all(axis=1))


def lengths(values: Array, counts: NDArray[np.bool_] | None, padding: int | None) -> Array:
    """Tokens of each sample that are no padding, shape (samples,).

    Args:
        values: Token ids, shape (samples, tokens).
        counts: Which of them count, where a mask says so.
        padding: The token that fills up, where it is known.
    """
    if counts is not None:
        return np.asarray(counts.sum(axis=1))
    if padding is None:
        return np.full(len(values), values.shape[1])
    real = values != padding
    # The last real token ends the sample: padding may be a token that occurs inside as well.
    left, right = real.argmax(axis=1), real[:, ::-1].argmax(axis=1)
    return np.asarray(np.where(real.any(axis=1), values.shape[1] - left - right, 0))
