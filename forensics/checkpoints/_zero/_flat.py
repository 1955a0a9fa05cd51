"""Cuts flat vectors into the tensors they were made of.

Stages 1 and 2 lay the parameters of a group one behind the other and split the whole evenly over
the ranks. Stage 3 splits every parameter by itself, rounded up, and each rank lays its parts one
behind the other. (DeepSpeed, ``utils/zero_to_fp32.py``, states both.)
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from forensics.checkpoints._base import DType, Extent, Role, StoredTensor

Shapes = Mapping[str, tuple[int, ...]]
"""Parameter -> shape, in the order in which they were laid down."""


@dataclass(frozen=True)
class Flat:
    """What one rank holds of one vector: None where its file is missing."""

    numel: int
    tensor: StoredTensor | None
    rank: int


def flats_of(held: Mapping[int, StoredTensor | None], length: int = 0) -> list[Flat]:
    """Rank -> vector, as parts of a whole.

    Args:
        held: Vectors, None where a rank's file is missing.
        length: Elements of a missing one at least; none is shorter than the longest there is.
    """
    longest = max((t.size for t in held.values() if t is not None), default=0)
    missing = max(length, longest)
    return [Flat(missing if t is None else t.size, t, rank) for rank, t in sorted(held.items())]


def cut_even(parts: Sequence[Flat], shapes: Shapes) -> Iterator[tuple[str, StoredTensor]]:
    """Stages 1 and 2: the parameters of one group, over the parts of all ranks."""
    start = 0
    for name, shape in shapes.items():
        numel = math.prod(shape)
        pieces = list(_pieces(parts, start, numel))
        yield name, _tensor(f"{name}", shape, pieces, numel)
        start += numel


def cut_each(
    by_rank: Sequence[Sequence[Flat]], shapes: Shapes
) -> Iterator[tuple[str, StoredTensor]]:
    """Stage 3: the parameters of all groups, each over the vectors of all ranks."""
    start = 0
    world = len(by_rank)
    for name, shape in shapes.items():
        numel = math.prod(shape)
        share = -(-numel // world)
        pieces = [
            piece
            for rank, parts in enumerate(by_rank)
            for piece in _pieces(parts, start, max(0, min(share, numel - rank * share)))
        ]
        yield name, _tensor(name, shape, pieces, numel)
        start += share


def _pieces(parts: Sequence[Flat], start: int, numel: int) -> Iterator[tuple[Flat, int, int]]:
    """(part, first element, elements) that cover a range of the vectors laid end to end."""
    before = 0
    for part in parts:
        first = max(0, start - before)
        count = min(part.numel, start + numel - before) - first
        if count > 0:
            yield part, first, count
        before += part.numel


def _tensor(
    name: str, shape: tuple[int, ...], pieces: Sequence[tuple[Flat, int, int]], numel: int
) -> StoredTensor:
    extents: list[Extent] = []
    lost = sorted({part.rank for part, _, _ in pieces if part.tensor is None})
    found = sum(count for _, _, count in pieces)
    missing = f"the file of rank {lost[0]} is missing" if lost else ""
    if found < numel and not missing:
        missing = f"{numel - found:,} of its {numel:,} elements lie beyond the ranks' vectors"
    dtype, decoder, labels = DType.F32, "", []
    for part, first, count in pieces:
        tensor = part.tensor
        if tensor is None:
            continue
        dtype, size = tensor.dtype, tensor.dtype.size
        cut = list(_extents(tensor, first * size, count * size))
        missing = missing or (tensor.missing if sum(e.nbytes for e in cut) < count * size else "")
        decoder = decoder or tensor.decoder
        extents.extend(cut)
        labels.append(f"{tensor.storage}[{first}+{count}]")
    return StoredTensor(
        name,
        Role.OTHER,
        dtype,
        shape,
        tuple(extents),
        ",".join(labels[:1]),
        missing=missing,
        decoder=decoder,
    )


def _extents(tensor: StoredTensor, start: int, nbytes: int) -> Iterator[Extent]:
    """The bytes from ``start`` on of a tensor, as far as they are there."""
    before = 0
    for extent in tensor.extents:
        first = max(0, start - before)
        count = min(extent.nbytes, start + nbytes - before) - first
        if count > 0:
            yield Extent(extent.path, extent.offset + first, count)
        before += extent.nbytes
