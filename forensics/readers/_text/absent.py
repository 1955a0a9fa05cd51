"""Losses that are absent from a line because they were NaN.

Megatron prints a loss only where it is at least zero, so that a NaN deletes its own field from
the iteration line; a skipped iteration has none either, but says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forensics.readers._text.counters import Role
from forensics.readers._text.layout import Kind
from forensics.readers._text.placed import Placed
from forensics.readers._text.rows import Ordinals, Values
from forensics.signals import Signal, classify

_LOSSES = frozenset({Signal.TRAIN_LOSS, Signal.LOSS_COMPONENT})
_MARKS = ("number of skipped iterations", "number of nan iterations", "elapsed time per iteration")


@dataclass(frozen=True, eq=False)
class Absent:
    """Points of a loss that was not printed because it was NaN."""

    tag: str
    at: Ordinals
    x: Ordinals
    stamp: Values | None


def absent_losses(placed: Sequence[Placed]) -> list[Absent]:
    """Find iteration lines without the losses that other iteration lines have."""
    lines = [p for p in placed if p.rows.layout.kind is Kind.LINE and _is_iteration(p)]
    expected = {tag for p in lines for tag in _losses(p)}
    own = max((len(_losses(p)) for p in lines), default=0)
    found: list[Absent] = []
    for p in lines:
        here = _losses(p)
        if here or (not expected and not _bad_gradient(p).any()):
            continue
        unskipped = _column(p, Signal.SKIPPED_STEPS, 0.0) == 0
        chosen = unskipped if expected else unskipped & _bad_gradient(p)
        tags = sorted(expected) if own else ["lm loss"]
        stamp = None if p.rows.stamp is None else p.rows.stamp[chosen]
        at, x = p.rows.at[chosen], p.x[chosen]
        found += [Absent(tag, at, x, stamp) for tag in tags if chosen.any()]
    return found


def _is_iteration(placed: Placed) -> bool:
    tags = [column.tag for column in placed.rows.layout.columns]
    return any(tag.startswith(_MARKS) for tag in tags)


def _losses(placed: Placed) -> set[str]:
    columns = placed.rows.layout.columns
    return {c.tag for c in columns if c.role is Role.VALUE and classify(c.tag) in _LOSSES}


def _column(placed: Placed, signal: Signal, otherwise: float) -> Values:
    for k, column in enumerate(placed.rows.layout.columns):
        if column.role is Role.VALUE and classify(column.tag) is signal:
            return placed.rows.values[:, k]
    return np.full(len(placed.rows), otherwise)


def _bad_gradient(placed: Placed) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return ~np.isfinite(_column(placed, Signal.GRAD_NORM, 0.0))
