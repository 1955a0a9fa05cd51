"""The scan compiled: one pass per tensor at the speed of memory.

Each block of `BLOCK` elements is looked at twice while it is in the cache: once as integers, for
its largest and smallest magnitude, and once as numbers, for its sums. Only where the integers
show something that is not finite, or so small that the processor would stumble over it, does a
slower loop go over the block. No floating-point operation ever meets a NaN, so that sums may be
reordered into vector registers; nothing else of "fast math" is allowed.

Sums are float64. Of the 16-bit types, 32 values at a time are first added in float32, in which
their squares are exact: each such partial sum is right to 2**-21, far below the 2**-8 or 2**-11 of
the values themselves. It doubles the speed.

All of it is one file, for numba tells by the file of the outermost function whether what it kept
on disk is out of date.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import float64, int32, njit, types, uint16, uint32
from numba.extending import intrinsic
from numpy.typing import NDArray

BLOCK = 4096
_ROW = BLOCK // 8
_LEAST_NORMAL, _INFINITY = 0x0080_0000, 0x7F80_0000  # of float32

NAN, POS_INF, NEG_INF, ZERO, FIRST_BAD = range(5)
"""Places in ``counts``."""
ABS_MAX, TOTAL, SQUARES = range(3)
"""Places in ``sums``."""

Counts = NDArray[np.int64]
Sums = NDArray[np.float64]
Scratch = NDArray[np.float32]
"""Shape (BLOCK,), to be written over."""
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _native(function: _Function) -> _Function:
    """Compile a loop whose sums may be taken in any order."""
    return _compiled(function, {"reassoc", "contract", "nsz"})


def _native_in_order(function: _Function) -> _Function:
    """Compile a loop whose sums are taken as they are written."""
    return _compiled(function, {"contract"})


def _compiled(function: _Function, fastmath: set[str]) -> _Function:
    options: dict[str, Any] = {"nogil": True, "fastmath": fastmath, "_nrt": False}
    compiled: _Function = njit(**options)(function)
    return compiled


def _kept(function: _Function) -> _Function:
    """Compile and keep the result on disk, where there is a place for it."""
    compiled = _native(function)
    with suppress(RuntimeError):  # neither the package's folder nor the user's cache can be written
        compiled.enable_caching()  # type: ignore[attr-defined]
    return compiled


def _emit_half(_context: Any, _bits: Any) -> Any:
    """float16 bits to float32; numba knows no half precision, the processor does."""

    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fpext(builder.bitcast(arguments[0], ir.HalfType()), ir.FloatType())

    return types.float32(types.uint16), emit


_half: Any = intrinsic(_emit_half)


@_native
def _from_f16(bits: Any) -> Any:
    return _half(uint16(bits))


@_native
def _from_bf16(bits: Any) -> Any:
    return np.uint32(uint32(bits) << uint32(16)).view(np.float32)


@_native
def _from_f32(bits: Any) -> Any:
    return np.uint32(bits).view(np.float32)


def _survey(unsigned: Any) -> tuple[Any, Any, Any]:
    """What integers tell of a block of floating-point numbers of one width."""
    mask = (1 << (unsigned.bitwidth - 1)) - 1

    @_native
    def extremes(block: Any) -> Any:
        """Largest and smallest magnitude."""
        top, low = unsigned(0), unsigned(mask)
        for i in range(block.size):
            magnitude = unsigned(block[i] & unsigned(mask))
            top = max(top, magnitude)
            low = min(low, magnitude)
        return top, low

    @_native
    def zeros(block: Any) -> Any:
        """Number of zeros, and the smallest magnitude that is none."""
        zero, low = unsigned(0), unsigned(mask)
        for i in range(block.size):
            magnitude = unsigned(block[i] & unsigned(mask))
            zero = unsigned(zero + unsigned(magnitude == unsigned(0)))
            below = unsigned(magnitude - unsigned(1))  # of zero: the largest integer
            low = min(low, below)
        return zero, unsigned(low + unsigned(1))

    @_native
    def bad(block: Any, infinity: Any, counts: Counts, before: int) -> Any:
        """Count what is not finite; returns the largest magnitude of the rest."""
        nan, infinite, positive = unsigned(0), unsigned(0), unsigned(0)
        top = unsigned(0)
        for i in range(block.size):
            magnitude = unsigned(block[i] & unsigned(mask))
            nan = unsigned(nan + unsigned(magnitude > infinity))
            infinite = unsigned(infinite + unsigned(magnitude == infinity))
            positive = unsigned(positive + unsigned(block[i] == infinity))
            finite = magnitude if magnitude < infinity else unsigned(0)
            top = max(top, finite)
        counts[NAN] += nan
        counts[POS_INF] += positive
        counts[NEG_INF] += infinite - positive
        if counts[FIRST_BAD] < 0:
            i = 0
            while unsigned(block[i] & unsigned(mask)) < infinity:
                i += 1
            counts[FIRST_BAD] = before + i
        return top

    return extremes, zeros, bad


@_native
def _sums(value: Any) -> Any:
    """Sum, and sum of squares, of float32 values."""
    total, squares = 0.0, 0.0
    for i in range(value.size):
        wide = float64(value[i])
        total += wide
        squares += wide * wide
    return total, squares


def _folded(fold: Any) -> Any:
    """Sums of a whole block of 16-bit values; ``fold`` adds each eight of them in float32."""

    @_native
    def add(block: Any, scratch: Scratch) -> Any:
        fold(block, scratch[:_ROW], scratch[_ROW : 2 * _ROW])
        return _sum_of_fours(scratch[:_ROW]), _sum_of_fours(scratch[_ROW : 2 * _ROW])

    return add


@_native_in_order
def _fold_f16(block: Any, total: Scratch, squares: Scratch) -> None:
    a, b, c, d = block[:_ROW], block[_ROW:], block[2 * _ROW :], block[3 * _ROW :]
    e, f, g, h = block[4 * _ROW :], block[5 * _ROW :], block[6 * _ROW :], block[7 * _ROW :]
    for i in range(_ROW):
        p, q, r, s = _half(a[i]), _half(b[i]), _half(c[i]), _half(d[i])
        t, u, v, w = _half(e[i]), _half(f[i]), _half(g[i]), _half(h[i])
        total[i] = ((p + q) + (r + s)) + ((t + u) + (v + w))
        squares[i] = ((p * p + q * q) + (r * r + s * s)) + ((t * t + u * u) + (v * v + w * w))


@_native_in_order
def _fold_bf16(block: Any, total: Scratch, squares: Scratch) -> None:
    """Two values to a word: the upper one is a float32 once the lower one is masked."""
    words = block.view(np.uint32)
    a, b, c, d = words[:_ROW], words[_ROW:], words[2 * _ROW :], words[3 * _ROW :]
    for i in range(_ROW):
        p, q, r, s = _lower(a[i]), _upper(a[i]), _lower(b[i]), _upper(b[i])
        t, u, v, w = _lower(c[i]), _upper(c[i]), _lower(d[i]), _upper(d[i])
        total[i] = ((p + q) + (r + s)) + ((t + u) + (v + w))
        squares[i] = ((p * p + q * q) + (r * r + s * s)) + ((t * t + u * u) + (v * v + w * w))


@_native
def _lower(word: Any) -> Any:
    return np.uint32(word << uint32(16)).view(np.float32)


@_native
def _upper(word: Any) -> Any:
    return np.uint32(word & uint32(0xFFFF_0000)).view(np.float32)


@_native
def _sum_of_fours(value: Any) -> Any:
    """Sum of float32 values of which four at a time are added as such."""
    part = value.size // 4
    a, b, c, d = value[:part], value[part:], value[2 * part :], value[3 * part :]
    total = 0.0
    for i in range(part):
        total += float64((a[i] + b[i]) + (c[i] + d[i]))
    return total


def _exact(number: Any) -> Any:
    """Sums of the finite values of any block.

    The processor takes a hundred cycles over a subnormal float32, and moments that decay end as
    such; so these are taken as integers, in units of 2**-149.
    """

    @_native
    def normal(block: Any, value: Scratch) -> None:
        for i in range(block.size):
            bits = np.float32(number(block[i])).view(np.uint32)
            magnitude = uint32(bits & uint32(0x7FFF_FFFF))
            kept = uint32(magnitude - uint32(_LEAST_NORMAL)) < uint32(_INFINITY - _LEAST_NORMAL)
            value[i] = np.uint32(uint32(bits) if kept else uint32(0)).view(np.float32)

    @_native
    def subnormal(block: Any, value: Scratch) -> None:
        for i in range(block.size):
            bits = np.float32(number(block[i])).view(np.uint32)
            magnitude = uint32(bits & uint32(0x7FFF_FFFF))
            units = int32(magnitude) if magnitude < uint32(_LEAST_NORMAL) else int32(0)
            sign = uint32(bits & uint32(0x8000_0000))
            value[i] = np.uint32(np.float32(units).view(np.uint32) | sign).view(np.float32)

    @_native
    def add(block: Any, scratch: Scratch, with_subnormals: bool) -> Any:
        value = scratch[: block.size]
        normal(block, value)
        total, squares = _sums(value)
        if with_subnormals:
            subnormal(block, value)
            small, smaller = _sums(value)
            total += small * 2.0**-149
            squares += smaller * 2.0**-298
        return total, squares

    return add


def _scan(
    unsigned: Any, number: Any, quick: Any, infinity: int, normal: int, low: int, high: int
) -> Any:
    """The loop over the blocks of one type.

    Args:
        unsigned: Integer of its width.
        number: Bits -> float32.
        quick: Sums of a whole block whose magnitudes all lie in low <= m < high, or are 0.
        infinity: Bits of plus infinity.
        normal: Bits of the smallest magnitude that is a normal float32.
        low: Bits of the smallest magnitude that ``quick`` takes.
        high: Bits above the largest.
    """
    extremes, zeros, bad = _survey(unsigned)
    exact = _exact(number)

    @_native
    def scan(bits: Any, scratch: Scratch, counts: Counts, sums: Sums, before: int) -> None:
        highest = unsigned(0)
        for start in range(0, bits.size, BLOCK):
            block = bits[start : start + BLOCK]
            top, least = extremes(block)
            if least == unsigned(0):
                zero, least = zeros(block)
                counts[ZERO] += zero
            if top >= unsigned(infinity):
                top = bad(block, unsigned(infinity), counts, before + start)
                quickly = False
            else:
                quickly = top < unsigned(high) and least >= unsigned(low) and block.size == BLOCK
            if quickly:
                total, squares = quick(block, scratch)
            elif least < unsigned(infinity):
                total, squares = exact(block, scratch, least < unsigned(normal))
            else:  # NaN from end to end, or nothing but zeros
                total, squares = 0.0, 0.0
            highest = max(highest, top)
            sums[TOTAL] += total
            sums[SQUARES] += squares
        sums[ABS_MAX] = max(sums[ABS_MAX], float64(number(highest)))

    return scan


@_native
def _quick_f32(block: Any, _scratch: Scratch) -> Any:
    return _sums(block.view(np.float32))


# From 2**-62 to 2**60 squares neither overflow float32 nor become subnormal in it.
_bf16 = _scan(uint16, _from_bf16, _folded(_fold_bf16), 0x7F80, 0x0080, 0x2080, 0x5D80)
_f16 = _scan(uint16, _from_f16, _folded(_fold_f16), 0x7C00, 0, 1, 0x7C00)
_f32 = _scan(uint32, _from_f32, _quick_f32, _INFINITY, _LEAST_NORMAL, _LEAST_NORMAL, _INFINITY)


@_kept
def scan_bf16(bits: Any, scratch: Scratch, counts: Counts, sums: Sums, before: int) -> None:
    """Add bfloat16 elements to ``counts`` and ``sums``; ``before`` were added already."""
    _bf16(bits, scratch, counts, sums, before)


@_kept
def scan_f16(bits: Any, scratch: Scratch, counts: Counts, sums: Sums, before: int) -> None:
    """See `scan_bf16`."""
    _f16(bits, scratch, counts, sums, before)


@_kept
def scan_f32(bits: Any, scratch: Scratch, counts: Counts, sums: Sums, before: int) -> None:
    """See `scan_bf16`."""
    _f32(bits, scratch, counts, sums, before)


@_kept
def count_bytes(data: Any, times: Any) -> None:
    """Add how often each byte occurs to ``times``, shape (4, 256).

    Four tables, because a processor waits where it adds to the same place twice in a row.
    """
    whole = data.size - data.size % 4
    for i in range(0, whole, 4):
        times[0, data[i]] += 1
        times[1, data[i + 1]] += 1
        times[2, data[i + 2]] += 1
        times[3, data[i + 3]] += 1
    for i in range(whole, data.size):
        times[0, data[i]] += 1
