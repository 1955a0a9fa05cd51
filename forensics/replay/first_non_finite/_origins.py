"""Where the non-finite values of a step came from, kept by the memory that holds them."""

from collections.abc import Iterable
from dataclasses import dataclass

from torch import Tensor

from forensics.replay.first_non_finite._numbers import numbers
from forensics.replay_facts import NonFiniteOperation


@dataclass(frozen=True)
class Origin:
    """Which candidates a non-finite value came from: the earliest of each kind, by index."""

    fault: int | None = None
    """Made by an operation from finite values."""
    meant: int | None = None
    """Written on purpose, such as an attention mask."""

    def joined(self, others: Iterable["Origin"]) -> "Origin":
        """The earliest of all of them."""
        every = [self, *others]
        faults = [o.fault for o in every if o.fault is not None]
        meant = [o.meant for o in every if o.meant is not None]
        return Origin(min(faults, default=None), min(meant, default=None))


class Ledger:
    """Candidates in the order in which they came up, and which memory holds values of theirs.

    A few numbers per tensor that is not finite; no tensor is kept.
    """

    def __init__(self) -> None:
        self._candidates: list[NonFiniteOperation] = []
        self._origins: dict[int, Origin] = {}
        self._first_fault: int | None = None

    def add(self, candidate: NonFiniteOperation, *, meant: bool) -> Origin:
        """Note a candidate and give the origin that stands for it."""
        self._candidates.append(candidate)
        index = len(self._candidates) - 1
        if meant:
            return Origin(meant=index)
        self._first_fault = index if self._first_fault is None else self._first_fault
        return Origin(fault=index)

    def mark(self, tensor: Tensor, origin: Origin) -> None:
        """Note that the memory of a tensor holds non-finite values of this origin."""
        key = _memory(tensor)
        if key is not None:
            self._origins[key] = self._origins.get(key, Origin()).joined([origin])

    def renew(self, tensor: Tensor, origin: Origin | None) -> None:
        """Note what a tensor just written holds; None: finite values only.

        What other views of the same memory hold stays noted, unless the tensor covers all of it.
        """
        key = _memory(tensor) if self._origins else None
        if key in self._origins and _covers_memory(tensor):
            del self._origins[key]
        if origin is not None:
            self.mark(tensor, origin)

    def origin(self, tensor: Tensor) -> Origin | None:
        """Where non-finite values in the memory of a tensor came from, as far as noted."""
        key = _memory(tensor)
        return None if key is None else self._origins.get(key)

    def candidate(self, origin: Origin) -> NonFiniteOperation | None:
        """The candidate to report for an origin: a fault before a value that was meant."""
        index = origin.meant if origin.fault is None else origin.fault
        return None if index is None else self._candidates[index]

    def earliest_fault(self) -> Origin | None:
        """The origin of the first candidate that was not meant."""
        return None if self._first_fault is None else Origin(fault=self._first_fault)


def _memory(tensor: Tensor) -> int | None:
    values = numbers(tensor)
    return None if values is None else values.untyped_storage()._cdata


def _covers_memory(tensor: Tensor) -> bool:
    values = numbers(tensor)
    if values is None:
        return False
    return values.numel() * values.element_size() >= values.untyped_storage().nbytes()
