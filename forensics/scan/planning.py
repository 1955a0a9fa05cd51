"""Cuts a checkpoint into tasks: what is shared is read once, what is large is read in parts."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from forensics.checkpoints import DType, Extent, StoredTensor

LARGEST_PART, SMALLEST_PART = 1 << 26, 1 << 22
"""Bytes: a part keeps a worker busy for some milliseconds and the rest from waiting for it."""
_MOST_PARTS = 256
"""Small tensors that go into one task."""
_MOST_READINGS = 16
"""Times over that a file may be read for tensors that overlap without being the same."""


@dataclass(frozen=True)
class Part:
    """A stretch of one tensor, read by one worker from end to end; can be sent anywhere."""

    source: int
    """Index of the source it belongs to."""
    tensor: StoredTensor
    """With the extents of this stretch."""

    @property
    def nbytes(self) -> int:
        """Bytes to be read."""
        return _nbytes(self.tensor)


Task = tuple[Part, ...]


@dataclass(frozen=True)
class Plan:
    """What to read, and for whom."""

    source_of: tuple[int | None, ...]
    """By tensor: index of what is read for it, None where nothing is."""
    why_not: tuple[str, ...]
    """By tensor: why nothing is read for it, or ''."""
    shared: tuple[bool, ...]
    """By tensor: every byte of it belongs to an earlier tensor too."""
    tasks: tuple[Task, ...]
    """In the order of the sources, and the parts of a source in the order of its elements."""
    sources: int
    nbytes: int
    """Bytes to be read in all."""

    @property
    def dtypes(self) -> frozenset[DType]:
        """Element types to be read."""
        return frozenset(part.tensor.dtype for task in self.tasks for part in task)


def plan(tensors: Sequence[StoredTensor], workers: int) -> Plan:
    """Decide what is read, once, and in which pieces.

    Args:
        tensors: Of one checkpoint.
        workers: How many will share the work.
    """
    index: dict[tuple[object, ...], int] = {}
    sources: list[StoredTensor] = []
    source_of: list[int | None] = []
    why_not: list[str] = []
    shared: list[bool] = []
    covered, total = _Covered(), 0
    for tensor in tensors:
        key = (tensor.dtype, tensor.extents, tensor.decoder)
        shared.append(covered.add(tensor))
        reason = "" if key in index else _why_not(tensor, total, covered.nbytes)
        if not reason and key not in index:
            index[key] = len(sources)
            sources.append(tensor)
            total += _nbytes(tensor)
        source_of.append(index.get(key))
        why_not.append(reason)
    size = min(max(total // (8 * workers), SMALLEST_PART), LARGEST_PART)
    parts = (Part(i, cut) for i, tensor in enumerate(sources) for cut in _cut(tensor, size))
    return Plan(
        tuple(source_of),
        tuple(why_not),
        tuple(shared),
        tuple(_grouped(parts, size)),
        len(sources),
        total,
    )


def _why_not(tensor: StoredTensor, planned: int, covered: int) -> str:
    if tensor.dtype is DType.OTHER:
        return "packed, or of an unknown element type"
    if not tensor.extents:
        return "" if tensor.size == 0 else "its bytes are not there"
    if planned + _nbytes(tensor) > _MOST_READINGS * covered:
        return "shares its bytes with too many others"
    return ""


def _nbytes(tensor: StoredTensor) -> int:
    return sum(extent.nbytes for extent in tensor.extents)


class _Covered:
    """Which bytes of which files have been counted."""

    def __init__(self) -> None:
        self.nbytes = 0
        self._starts: dict[str, list[int]] = {}
        self._ends: dict[str, list[int]] = {}

    def add(self, tensor: StoredTensor) -> bool:
        """Count the bytes of a tensor; True where all of them were counted before."""
        news = [self._add(extent) for extent in tensor.extents if extent.nbytes]
        return bool(news) and not any(news)

    def _add(self, extent: Extent) -> bool:
        starts = self._starts.setdefault(extent.path, [])
        ends = self._ends.setdefault(extent.path, [])
        start, end = extent.offset, extent.offset + extent.nbytes
        first, last = bisect_left(ends, start), bisect_right(starts, end)
        if first < last and starts[first] <= start and end <= ends[first]:
            return False
        if first < last:
            start, end = min(start, starts[first]), max(end, ends[last - 1])
        self.nbytes += (
            end
            - start
            - sum(e - s for s, e in zip(starts[first:last], ends[first:last], strict=True))
        )
        starts[first:last], ends[first:last] = [start], [end]
        return True


def _cut(tensor: StoredTensor, size: int) -> Iterator[StoredTensor]:
    """The tensor in stretches of about ``size`` bytes; what has to be decoded stays whole."""
    total = _nbytes(tensor)
    if tensor.decoder or total <= size:
        yield tensor
        return
    step = size // tensor.dtype.size * tensor.dtype.size
    for start in range(0, total, step):
        yield replace(tensor, extents=tuple(between(tensor.extents, start, start + step)))


def between(extents: Iterable[Extent], start: int, stop: int) -> Iterator[Extent]:
    """Bytes ``start`` to ``stop`` of the extents laid end to end.

    Args:
        extents: Of one tensor, in element order.
        start: First byte.
        stop: The byte behind the last.
    """
    at = 0
    for extent in extents:
        first, last = max(start - at, 0), min(stop - at, extent.nbytes)
        if first < last:
            yield Extent(extent.path, extent.offset + first, last - first)
        at += extent.nbytes


def _grouped(parts: Iterable[Part], size: int) -> Iterator[Task]:
    """Neighbours that together are no larger than one large part."""
    task: list[Part] = []
    nbytes = 0
    for part in parts:
        if task and (nbytes + part.nbytes > size or len(task) == _MOST_PARTS):
            yield tuple(task)
            task, nbytes = [], 0
        task.append(part)
        nbytes += part.nbytes
    if task:
        yield tuple(task)
