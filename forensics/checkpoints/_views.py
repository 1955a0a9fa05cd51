"""A tensor as a view of a storage: which bytes of the file it covers.

Expanded and strided views are never laid out: a view that covers its bytes without gaps, in
whatever order, is one extent, and one that repeats bytes covers them once.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from forensics.checkpoints._base import DType, Extent, Role, StoredTensor

MAX_DIMENSIONS = 64
MAX_BYTES = 1 << 62
MAX_RUNS = 4096
"""A view in more pieces is given as the one range that holds them all."""


@dataclass(frozen=True)
class Storage:
    """The bytes that tensors are views of."""

    path: str
    offset: int
    nbytes: int
    """That are there."""
    declared: int
    """That should be there."""
    missing: str = ""
    """Why some are not, or cannot be read as they are."""
    deflated: int = 0
    """Compressed bytes at ``offset``; ``nbytes`` are there once they are inflated."""
    skip: int = 0
    """Bytes in front of the first element, where compressed."""
    swapped: bool = False
    """True for big-endian elements."""


def tensor_of(
    storage: Storage,
    dtype: DType,
    itemsize: int,
    shape: Sequence[int],
    stride: Sequence[int] | None = None,
    start: int = 0,
) -> StoredTensor:
    """The tensor without name and role.

    Args:
        storage: Where its bytes are.
        dtype: Type of an element.
        itemsize: Bytes of an element.
        shape: Lengths.
        stride: Elements between neighbours, by dimension; by default without gaps.
        start: Its first element within the storage.
    """
    lengths = tuple(shape)
    if not is_possible(lengths, itemsize) or start < 0:
        return unread(dtype, (), f"impossible shape {_shown(lengths)}")
    steps = contiguous(lengths) if stride is None else tuple(stride)
    if len(steps) != len(lengths) or any(step < 0 for step in steps):
        return unread(dtype, lengths, "impossible strides")
    if 0 in lengths:
        return unread(dtype, lengths, "")
    span = 1 + sum((length - 1) * step for length, step in zip(lengths, steps, strict=True))
    if (start + span) * itemsize > storage.declared:
        return unread(dtype, lengths, "reaches beyond its storage")
    runs = _runs(lengths, steps, span)
    places = [((start + first) * itemsize, count * itemsize) for first, count in runs]
    found = _cut(places, storage, itemsize, dtype, lengths)
    in_order = len(runs) > 1 or _is_in_order(lengths, steps)
    return found if in_order else replace(found, stride=steps)


def unread(dtype: DType, shape: Sequence[int], why: str) -> StoredTensor:
    """A tensor of which no byte can be read; of none, if it is empty, without a reason."""
    return StoredTensor("", Role.OTHER, dtype, tuple(shape), missing=why)


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a tensor without gaps, in elements, last dimension fastest."""
    steps, step = [], 1
    for length in reversed(shape):
        steps.append(step)
        step *= length
    return tuple(reversed(steps))


def are_lengths(values: object) -> bool:
    """True for a short sequence of whole numbers, as a hostile file need not give."""
    if not isinstance(values, (tuple, list)) or len(values) > MAX_DIMENSIONS:
        return False
    return all(isinstance(v, int) and not isinstance(v, bool) for v in values)


def is_possible(shape: tuple[int, ...], itemsize: int = 1) -> bool:
    """True where a tensor of this shape could exist."""
    if not are_lengths(shape) or any(not 0 <= length < MAX_BYTES for length in shape):
        return False
    return math.prod(shape) * itemsize < MAX_BYTES


def _shown(shape: tuple[int, ...]) -> str:
    text = "×".join(str(length) for length in shape[:6] if abs(length) < 10**20)
    return text or "()"


def _runs(shape: tuple[int, ...], stride: tuple[int, ...], span: int) -> list[tuple[int, int]]:
    """(first element, elements) of each gapless piece, in element order."""
    if stride == contiguous(shape):
        return [(0, span)]
    dims = [(step, n) for step, n in zip(stride, shape, strict=True) if n > 1 and step > 0]
    if math.prod(n for _, n in dims) >= span:  # gapless, or repeating itself
        return [(0, span)]
    block = 1
    while dims and dims[-1][0] == block:
        block *= dims.pop()[1]
    if math.prod(n for _, n in dims) > MAX_RUNS:
        return [(0, span)]
    return [(first, block) for first in _starts(dims)]


def _is_in_order(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """True where neighbours in the last dimension are neighbours in the file, and so on."""
    wanted = contiguous(shape)
    return all(n == 1 or s == w for n, s, w in zip(shape, stride, wanted, strict=True))


def _starts(dims: list[tuple[int, int]]) -> Iterator[int]:
    if not dims:
        yield 0
        return
    (step, count), rest = dims[0], dims[1:]
    for index in range(count):
        for inner in _starts(rest):
            yield index * step + inner


def _cut(
    places: list[tuple[int, int]],
    storage: Storage,
    itemsize: int,
    dtype: DType,
    shape: tuple[int, ...],
) -> StoredTensor:
    """The tensor over these (offset in the storage, bytes), as far as whole elements are there."""
    there = [
        (at, min(nbytes, (storage.nbytes - at) // itemsize * itemsize))
        for at, nbytes in places
        if at + itemsize <= storage.nbytes
    ]
    wanted = sum(nbytes for _, nbytes in places)
    found = sum(nbytes for _, nbytes in there)
    missing = storage.missing
    if not missing and found < wanted:
        missing = f"cut off: {found:,} of its {wanted:,} bytes are there"
    first, last = places[0][0], sum(places[-1])
    decoders = [f"swap:{itemsize}"] if storage.swapped and itemsize > 1 else []
    extents = tuple(Extent(storage.path, storage.offset + at, nbytes) for at, nbytes in there)
    if storage.deflated:
        decoders.insert(0, f"deflate:{storage.skip + first}:{last - first}")
        extents = (Extent(storage.path, storage.offset, storage.deflated),)
    label = f"{_place(storage, first)}+{last - first}" if there else ""
    return StoredTensor(
        "", Role.OTHER, dtype, shape, extents, label, missing, decoder="|".join(decoders)
    )


def _place(storage: Storage, first: int) -> str:
    """Names the first byte of a tensor, as no other tensor's that lies elsewhere."""
    if storage.deflated:
        return f"{storage.path}@{storage.offset}/{storage.skip + first}"
    return f"{storage.path}@{storage.offset + first}"
