"""Decimal digits to the nearest double, bit for bit what Python's ``float`` gives.

The method is Eisel and Lemire's (D. Lemire, "Number Parsing at a Gigabyte per Second", Software:
Practice and Experience 51(8), 2021; that it needs no check of its own error: N. Mushtak and
D. Lemire, "Fast Number Parsing Without Fallback", 2023). A number w * 10**q with an exact 64-bit w
is multiplied by a 128-bit approximation of 5**q; the high bits are the mantissa. What lies outside
its reach (more than 19 digits, subnormal, overflow) is answered by `UNSURE`, and the caller asks
``float``.
"""

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from forensics.readers._tables.native_numba import native

SMALLEST_POWER, LARGEST_POWER = -342, 308
UNSURE = 0xFFFFFFFFFFFFFFFF
"""Bits (of a NaN that no logger writes) that say: ask ``float``."""


def _powers_of_five() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The leading 128 bits of 5**q for every q in reach, as high and low words."""
    powers = []
    for q in range(SMALLEST_POWER, LARGEST_POWER + 1):
        if q >= 0:
            bits = (5**q).bit_length()
            powers.append(5**q << 128 - bits if bits <= 128 else 5**q >> bits - 128)
        else:
            divisor = 5**-q
            bits = divisor.bit_length()
            quotient = (1 << bits + 127 if q >= -27 else 1 << 2 * bits + 128) // divisor + 1
            powers.append(quotient >> max(0, quotient.bit_length() - 128))
    high = np.array([power >> 64 for power in powers], np.uint64)
    low = np.array([power & 0xFFFFFFFFFFFFFFFF for power in powers], np.uint64)
    return high, low


_HIGH, _LOW = _powers_of_five()


@native
def _high_word(a: np.uint64, b: np.uint64) -> np.uint64:
    """The upper 64 bits of the product of two unsigned 64-bit numbers."""
    mask, half = uint64(0xFFFFFFFF), uint64(32)
    a_low, a_high, b_low, b_high = a & mask, a >> half, b & mask, b >> half
    low_high, high_low = a_low * b_high, a_high * b_low
    middle = ((a_low * b_low) >> half) + (low_high & mask) + (high_low & mask)
    return a_high * b_high + (low_high >> half) + (high_low >> half) + (middle >> half)


@native
def _leading_zeros(w: np.uint64) -> int:
    count = 0
    for width in (32, 16, 8, 4, 2, 1):
        if w >> uint64(64 - width) == 0:
            count += width
            w = w << uint64(width)
    return count


@native
def double_bits(w: np.uint64, q: int) -> np.uint64:
    """Bits of the double nearest to w * 10**q, ties to even; `UNSURE` outside the reach."""
    unsure = uint64(UNSURE)
    if w == 0:
        return uint64(0)
    if q < SMALLEST_POWER or q > LARGEST_POWER:
        return unsure
    zeros = _leading_zeros(w)
    w = w << uint64(zeros)
    high, low = _high_word(w, _HIGH[q - SMALLEST_POWER]), w * _HIGH[q - SMALLEST_POWER]
    if high & uint64(0x1FF) == uint64(0x1FF):  # the low half of the power may carry into it
        carry = _high_word(w, _LOW[q - SMALLEST_POWER])
        low = low + carry
        if carry > low:
            high = high + uint64(1)
    upper = int(high >> uint64(63))
    mantissa = high >> uint64(upper + 9)
    exponent = ((217706 * q) >> 16) + 63 + upper - zeros + 1023  # 217706 / 2**16 = log2(10)
    if exponent <= 0 or exponent >= 0x7FF:
        return unsure
    halfway = low <= uint64(1) and -4 <= q <= 23 and mantissa & uint64(3) == uint64(1)
    if halfway and mantissa << uint64(upper + 9) == high:
        mantissa = mantissa & ~uint64(1)
    mantissa = (mantissa + (mantissa & uint64(1))) >> uint64(1)
    if mantissa >= uint64(1) << uint64(53):
        mantissa, exponent = uint64(1) << uint64(52), exponent + 1
        if exponent >= 0x7FF:
            return unsure
    return (mantissa & ~(uint64(1) << uint64(52))) | uint64(exponent) << uint64(52)
