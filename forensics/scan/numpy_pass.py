"""The scan in plain numpy: for small checkpoints, rare element types, and where numba is not.

Bit patterns are compared as integers, block by block, so that every temporary array stays in the
cache: about 2 to 4 GB/s a core.
"""

import math
import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from forensics.checkpoints import DType
from forensics.scan.element_types import (
    FLOATS,
    INTEGERS,
    NATIVE,
    PARTS,
    Bits,
    Bytes,
    Doubles,
    Float,
    table_of,
    widened,
)
from forensics.scan.tally import Tally

_BLOCK = 1 << 15  # elements
_SAFE = 500
"""Binary exponent up to which sums of squares stay within float64 without scaling."""


class _Room(threading.local):
    """Arrays of a thread, written over by each block: new ones would cost more than the work."""

    def __init__(self) -> None:
        self.bits = np.empty(_BLOCK, np.uint64)
        self.values = np.empty(_BLOCK, np.float64)


_ROOM = _Room()


def count(chunks: Iterable[Bytes], dtype: DType) -> Tally:
    """Go through the bytes of a tensor once.

    Args:
        chunks: Whole elements, in order; each array is done with before the next is taken.
        dtype: Any type but `DType.OTHER`.
    """
    step = _BLOCK * PARTS.get(dtype, dtype).size  # of pairs, half as many
    whole = Tally()
    for chunk in chunks:
        for start in range(0, len(chunk), step):
            whole += _block(chunk[start : start + step], dtype)
    return whole


def _block(data: Bytes, dtype: DType) -> Tally:
    if dtype in FLOATS:
        return _floats(data.view(FLOATS[dtype].unsigned), dtype)
    if dtype in PARTS:
        return _pairs(data, PARTS[dtype])
    if dtype in INTEGERS:
        return _integers(data.view(INTEGERS[dtype]))
    table = table_of(dtype)
    if table is None:
        raise ValueError(f"elements of type {dtype} cannot be read")
    return _one_byte(data, table)


def _floats(bits: Bits, dtype: DType) -> Tally:
    spelled = FLOATS[dtype]
    magnitude = _ROOM.bits.view(spelled.unsigned)[: len(bits)]
    np.bitwise_and(bits, spelled.unsigned(spelled.magnitude), out=magnitude)
    top = magnitude.max()
    if top < spelled.infinity:
        zero = len(bits) - int(np.count_nonzero(magnitude))
        return _finite(_values(bits, dtype), _value(top, dtype), zero)
    magnitude = magnitude.copy()
    finite = bits[magnitude < spelled.infinity]
    part = _floats(finite, dtype) if len(finite) else Tally()
    return _with_bad(part, bits, magnitude, spelled)


def _with_bad(part: Tally, bits: Bits, magnitude: Bits, spelled: Float) -> Tally:
    """Add what is not finite to the tally of what is."""
    nan = int(np.count_nonzero(magnitude > spelled.infinity))
    pos_inf = int(np.count_nonzero(bits == spelled.infinity))
    return replace(
        part,
        count=len(bits),
        nan=nan,
        pos_inf=pos_inf,
        neg_inf=len(bits) - part.finite - nan - pos_inf,
        first_bad=int((magnitude >= spelled.infinity).argmax()),
    )


def _values(bits: Bits, dtype: DType) -> Doubles:
    """The numbers that finite bits stand for, in float64."""
    values = _ROOM.values[: len(bits)]
    if dtype is DType.BF16:
        values[:] = widened(bits, _ROOM.bits.view(np.uint32)[: len(bits)])
    else:
        values[:] = bits.view(NATIVE[dtype])
    return values


def _value(bits: Any, dtype: DType) -> float:
    """The number that the bits of one finite element stand for."""
    if dtype is DType.BF16:
        return float(np.uint32(int(bits) << 16).view(np.float32))
    return float(bits.view(NATIVE[dtype]))


def _finite(values: Doubles, largest: float, zero: int) -> Tally:
    """Tally of finite values, which are written over; their largest magnitude is known."""
    exponent = math.frexp(largest)[1]
    if abs(exponent) < _SAFE:
        exponent = 0
    else:
        np.ldexp(values, -exponent, out=values)
    total = float(np.add.reduce(values))
    np.square(values, out=values)
    return Tally(
        count=len(values),
        zero=zero,
        finite=len(values),
        abs_max=largest,
        total=total,
        squares=float(np.add.reduce(values)),
        exponent=exponent,
    )


def _integers(values: "np.ndarray[Any, Any]") -> Tally:
    largest = max(abs(int(values.max())), abs(int(values.min())))
    zero = len(values) - int(np.count_nonzero(values))
    return _finite(values.astype(np.float64), float(largest), zero)


def _one_byte(data: Bytes, table: Doubles) -> Tally:
    """Tally from the number of times each of the 256 bytes occurs."""
    return from_histogram(np.bincount(data, minlength=256), table, data)


def from_histogram(times: Bits, table: Doubles, data: Bytes) -> Tally:
    """Tally of one-byte elements.

    Args:
        times: Shape (256,), how often each byte occurs.
        table: Shape (256,), the value of each byte.
        data: Shape (n,), looked at only for the first bad one.
    """
    finite = np.isfinite(table)
    bad = int(times[~finite].sum())
    seen = np.abs(table[finite & (times > 0)])
    value, weight = table[finite], times[finite].astype(np.float64)
    return Tally(
        count=int(times.sum()),
        nan=int(times[np.isnan(table)].sum()),
        pos_inf=int(times[table == np.inf].sum()),
        neg_inf=int(times[table == -np.inf].sum()),
        zero=int(times[table == 0].sum()),
        first_bad=int((~finite[data]).argmax()) if bad else None,
        finite=int(times.sum()) - bad,
        abs_max=float(seen.max(initial=0.0)),
        total=float(value @ weight),
        squares=float(np.square(value) @ weight),
    )


def _pairs(data: Bytes, part: DType) -> Tally:
    """Complex numbers: sums over the parts, counts over the pairs."""
    spelled = FLOATS[part]
    parts = _floats(data.view(spelled.unsigned), part)
    pairs = data.view(np.float32 if part is DType.F32 else np.float64).reshape(-1, 2)
    nan = np.isnan(pairs).any(axis=1)
    infinite = np.isinf(pairs).any(axis=1) & ~nan
    positive = infinite & (pairs == np.inf).any(axis=1)
    bad = nan | infinite
    return replace(
        parts,
        count=len(pairs),
        nan=int(nan.sum()),
        pos_inf=int(positive.sum()),
        neg_inf=int(infinite.sum() - positive.sum()),
        zero=int((pairs == 0).all(axis=1).sum()),
        first_bad=int(bad.argmax()) if bad.any() else None,
    )
