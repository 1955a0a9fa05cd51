"""How each element type spells its values in bits."""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensics.checkpoints import DType

Bytes = NDArray[np.uint8]
Bits = NDArray[Any]
"""Elements as unsigned integers of their own width."""
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Float:
    """An IEEE-like format wider than a byte."""

    unsigned: type[np.unsignedinteger[Any]]
    infinity: int
    """Bits of plus infinity; what has a larger magnitude is NaN."""

    @cached_property
    def magnitude(self) -> int:
        """Mask of all bits but the sign."""
        return int(np.iinfo(self.unsigned).max) >> 1


FLOATS = {
    DType.F64: Float(np.uint64, 0x7FF0_0000_0000_0000),
    DType.F32: Float(np.uint32, 0x7F80_0000),
    DType.F16: Float(np.uint16, 0x7C00),
    DType.BF16: Float(np.uint16, 0x7F80),
}
NATIVE: dict[DType, type[np.floating[Any]]] = {
    DType.F64: np.float64,
    DType.F32: np.float32,
    DType.F16: np.float16,
}
"""Those that numpy has itself."""
PARTS = {DType.C64: DType.F32, DType.C128: DType.F64}
"""A complex number is a pair of these."""
INTEGERS = {
    DType.I64: np.int64,
    DType.I32: np.int32,
    DType.I16: np.int16,
    DType.U64: np.uint64,
    DType.U32: np.uint32,
    DType.U16: np.uint16,
}


def widened(bits: Bits, wide: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Brain floats as float32: their bits, with zeros behind.

    Args:
        bits: Shape (n,), 16 bits each.
        wide: Shape (n,), written over; the result is a view of it.
    """
    wide[:] = bits
    wide <<= 16
    return wide.view(np.float32)


@cache
def table_of(dtype: DType) -> Doubles | None:
    """Values of the 256 bytes of a one-byte type, shape (256,); None for other types.

    The 8-bit floats are those of OCP's specification and, as FNUZ, of Graphcore's and AMD's
    (https://arxiv.org/abs/2206.02915): no infinity, no minus zero, one NaN.
    """
    byte = np.arange(256)
    match dtype:
        case DType.U8:
            return byte.astype(np.float64)
        case DType.I8:
            return byte.astype(np.int8).astype(np.float64)
        case DType.BOOL:
            return np.asarray(byte != 0, np.float64)
        case DType.F8_E5M2:
            value = _eight_bits(mantissa=2, bias=15)
            value[[0x7C, 0xFC]] = np.inf, -np.inf
            value[[0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]] = np.nan
        case DType.F8_E4M3:
            value = _eight_bits(mantissa=3, bias=7)
            value[[0x7F, 0xFF]] = np.nan
        case DType.F8_E5M2FNUZ:
            value = _eight_bits(mantissa=2, bias=16)
            value[0x80] = np.nan
        case DType.F8_E4M3FNUZ:
            value = _eight_bits(mantissa=3, bias=8)
            value[0x80] = np.nan
        case _:
            return None
    return value


def _eight_bits(mantissa: int, bias: int) -> Doubles:
    byte = np.arange(256)
    exponent = (byte & 0x7F) >> mantissa
    fraction = (byte & ((1 << mantissa) - 1)) / (1 << mantissa)
    magnitude = np.where(
        exponent == 0,
        fraction * 2.0 ** (1 - bias),
        (1 + fraction) * 2.0 ** (exponent - bias),
    )
    return np.where(byte < 128, magnitude, -magnitude)
