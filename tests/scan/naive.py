"""The scan, one element after the other, in exact arithmetic: slow and obvious."""

import math
import struct
from fractions import Fraction

from forensics.checkpoints import DType

NAN, INF = math.nan, math.inf
_MINIFLOATS = {  # exponent bits, mantissa bits, bias
    DType.F16: (5, 10, 15),
    DType.BF16: (8, 7, 127),
    DType.F32: (8, 23, 127),
    DType.F64: (11, 52, 1023),
    DType.F8_E5M2: (5, 2, 15),
    DType.F8_E4M3: (4, 3, 7),
    DType.F8_E5M2FNUZ: (5, 2, 16),
    DType.F8_E4M3FNUZ: (4, 3, 8),
}
_STRUCT = {
    DType.I64: "q",
    DType.I32: "i",
    DType.I16: "h",
    DType.I8: "b",
    DType.U64: "Q",
    DType.U32: "I",
    DType.U16: "H",
    DType.U8: "B",
    DType.BOOL: "?",
}


def decode_float(bits: int, dtype: DType):
    """A Fraction, or one of the floats NaN, Inf and -Inf."""
    exponent_bits, mantissa_bits, bias = _MINIFLOATS[dtype]
    sign = bits >> (exponent_bits + mantissa_bits)
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    ones = exponent == (1 << exponent_bits) - 1
    if dtype in (DType.F8_E4M3FNUZ, DType.F8_E5M2FNUZ):
        if sign and not exponent and not mantissa:
            return NAN
    elif dtype is DType.F8_E4M3:
        if ones and mantissa == 7:
            return NAN
    elif ones:
        return NAN if mantissa else (-INF if sign else INF)
    if exponent:
        value = (1 + Fraction(mantissa, 1 << mantissa_bits)) * Fraction(2) ** (exponent - bias)
    else:
        value = Fraction(mantissa, 1 << mantissa_bits) * Fraction(2) ** (1 - bias)
    return -value if sign else value


def elements(data: bytes, dtype: DType) -> list[tuple]:
    """Each element as the tuple of its parts: one, or two of a complex number."""
    if dtype in (DType.C64, DType.C128):
        part = DType.F32 if dtype is DType.C64 else DType.F64
        flat = [p for (p,) in elements(data, part)]
        return list(zip(flat[::2], flat[1::2], strict=True))
    size = dtype.size
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    if dtype in _MINIFLOATS:
        return [(decode_float(int.from_bytes(p, "little"), dtype),) for p in pieces]
    return [(Fraction(int(struct.unpack("<" + _STRUCT[dtype], p)[0])),) for p in pieces]


def is_finite(part) -> bool:
    return isinstance(part, Fraction)


def scan(data: bytes, dtype: DType) -> dict:
    """Everything that a `Tally` says, by its names."""
    found = elements(data, dtype)
    nan = [any(p != p for p in e) for e in found]
    infinite = [not n and not all(map(is_finite, e)) for n, e in zip(nan, found, strict=True)]
    positive = [i and INF in e for i, e in zip(infinite, found, strict=True)]
    bad = [i for i, e in enumerate(found) if not all(map(is_finite, e))]
    finite = [p for e in found for p in e if is_finite(p)]
    return {
        "count": len(found),
        "nan": sum(nan),
        "pos_inf": sum(positive),
        "neg_inf": sum(infinite) - sum(positive),
        "zero": sum(all(p == 0 for p in e) for e in found),
        "first_bad": bad[0] if bad else None,
        "finite": len(finite),
        "largest": float(max(map(abs, finite))) if finite else NAN,
        "rms": _root(sum(p * p for p in finite) / len(finite)) if finite else NAN,
        "mean": float(sum(finite) / len(finite)) if finite else NAN,
    }


def _root(square: Fraction) -> float:
    """Square root of a fraction of any size."""
    if not square:
        return 0.0
    shift = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(square / Fraction(4) ** shift), shift)
