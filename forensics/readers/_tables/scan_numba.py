"""The hot loop: lines of known layouts to numbers, one pass over the bytes.

A layout is a sequence of literals with a slot between each two of them. A line that fits gives
one number per numeric slot; the first line that fits no layout stops the loop, and the caller
reads that one the slow way.
"""

import numpy as np
from numba import uint8, uint64
from numpy.typing import NDArray

from forensics.readers._tables.doubles_numba import UNSURE, double_bits
from forensics.readers._tables.native_numba import native

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

NOT_LOGGED = 0x7FF8_6E6F_6E65_0000
"""Bits of a NaN that stands for a value that was not logged (no parser makes this payload)."""

NUMBER, SKIPPED, END = 0, 1, 2
"""Kinds of what follows a literal: a number, text of no interest, the end of the line."""

_NAN = 0x7FF8_0000_0000_0000
_INFINITY = 0x7FF0_0000_0000_0000
_SIGN = 0x8000_0000_0000_0000
_ONE = 0x3FF0_0000_0000_0000
_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE, _PLUS, _MINUS, _BACKSLASH = 9, 10, 13, 32, 34, 43, 45, 92
_SIGNIFICANT = 19  # decimal digits that always fit into 64 bits


def _packed(word: str) -> int:
    return int.from_bytes(word.encode(), "big")


_WORD_NAN, _WORD_INF, _WORD_INFINITY = _packed("nan"), _packed("inf"), _packed("infinity")
_WORD_NULL, _WORD_NONE, _WORD_NA = _packed("null"), _packed("none"), _packed("na")
_WORD_TRUE, _WORD_FALSE = _packed("true"), _packed("false")


@native
def _read_word(data: Bytes, i: int, sign: np.uint64) -> tuple[np.uint64, int]:
    """Bits of a spelled-out value (``nan``, ``-Infinity``, ``null``), and where it ends or -1."""
    word, start = uint64(0), i
    while True:
        letter = data[i] | uint8(32)  # lower case
        if letter < 97 or letter > 122:
            break
        word = (word << uint64(8)) | uint64(letter)
        i += 1
    if i - start > 8:
        return uint64(0), -1
    if word == uint64(_WORD_NAN):
        return uint64(_NAN), i
    if word == uint64(_WORD_INF) or word == uint64(_WORD_INFINITY):
        return uint64(_INFINITY) | sign, i
    if word == uint64(_WORD_NULL) or word == uint64(_WORD_NONE) or word == uint64(_WORD_NA):
        return uint64(NOT_LOGGED), i
    if word == uint64(_WORD_TRUE):
        return uint64(_ONE), i
    if word == uint64(_WORD_FALSE):
        return uint64(0), i
    return uint64(0), -1


@native
def _read_exponent(data: Bytes, i: int) -> tuple[int, int]:
    """The exponent that starts after the ``e`` before ``i``, and where it ends or -1."""
    negative = data[i] == _MINUS
    if negative or data[i] == _PLUS:
        i += 1
    start, exponent = i, 0
    digit = uint64(data[i]) - uint64(48)
    while digit < uint64(10):
        exponent = min(exponent * 10 + int(digit), 100_000)
        i += 1
        digit = uint64(data[i]) - uint64(48)
    return (-exponent if negative else exponent), (i if i > start else -1)


@native
def _read_number(data: Bytes, i: int, point: int) -> tuple[np.uint64, int]:
    """Bits of the number at ``i`` (`NOT_LOGGED` where there is none) and where it ends or -1.

    Bits `UNSURE` say that it is a number that only ``float`` can read exactly.
    """
    sign = uint64(0)
    if data[i] == _MINUS:
        sign = uint64(_SIGN)
        i += 1
    elif data[i] == _PLUS:
        i += 1
    start, w = i, uint64(0)
    digit = uint64(data[i]) - uint64(48)
    while digit < uint64(10):
        w = w * uint64(10) + digit
        i += 1
        digit = uint64(data[i]) - uint64(48)
    digits, exponent = i - start, 0
    if data[i] == point:
        i += 1
        fraction = i
        digit = uint64(data[i]) - uint64(48)
        while digit < uint64(10):
            w = w * uint64(10) + digit
            i += 1
            digit = uint64(data[i]) - uint64(48)
        exponent = fraction - i
        digits += i - fraction
        if digits == 0:
            return uint64(0), -1
    if digits == 0:
        if data[i] | uint8(32) >= 97 and data[i] | uint8(32) <= 122:
            return _read_word(data, i, sign)
        return uint64(NOT_LOGGED), i
    if digits > _SIGNIFICANT:
        while data[start] == 48 or data[start] == point:
            digits -= data[start] == 48
            start += 1
    if data[i] | uint8(32) == 101:
        scale, i = _read_exponent(data, i + 1)
        if i < 0:
            return uint64(0), -1
        exponent += scale
    if digits > _SIGNIFICANT:
        return uint64(UNSURE), i
    bits = double_bits(w, exponent)
    return (bits if bits == uint64(UNSURE) else bits | sign), i


@native
def _read_line(
    data: Bytes,
    i: int,
    point: int,
    literals: Bytes,
    pieces: Integers,
    p: int,
    bits: NDArray[np.uint64],
    k: int,
    hard: Integers,
    h: int,
) -> tuple[int, int, int]:
    """Fit the line at ``i`` to the layout whose pieces start at ``p``.

    Returns:
        Where the line ends (-1: it does not fit), the new ``k`` and the new ``h``.
    """
    while True:
        j, end, kind = pieces[p, 0], pieces[p, 1], pieces[p, 2]
        while j < end:
            if data[i] == literals[j]:
                j += 1
            elif data[i] != _SPACE or j > pieces[p, 0]:
                return -1, k, h
            i += 1
        if kind == END:
            while data[i] == _SPACE or data[i] == _RETURN or data[i] == _TAB:
                i += 1
            return (i + 1 if data[i] == _NEWLINE else -1), k, h
        if kind == SKIPPED:
            last = literals[end] if pieces[p + 1, 1] > pieces[p + 1, 0] else _NEWLINE
            while data[i] != last and data[i] != _NEWLINE:
                if data[i] == _QUOTE or data[i] == _BACKSLASH:
                    return -1, k, h
                i += 1
        else:
            while data[i] == _SPACE:
                i += 1
            number, after = _read_number(data, i, point)
            if after < 0:
                return -1, k, h
            if number == uint64(UNSURE):
                if h == len(hard):
                    return -1, k, h
                hard[h, 0], hard[h, 1], hard[h, 2] = k, i, after
                h += 1
            bits[k] = number
            k += 1
            i = after
        p += 1


@native
def scan_lines(
    data: Bytes,
    start: int,
    point: int,
    literals: Bytes,
    pieces: Integers,
    first_piece: Integers,
    bits: NDArray[np.uint64],
    layout_of: NDArray[np.int16],
    hard: Integers,
) -> tuple[int, int, int, int]:
    r"""Read lines from ``start`` until one fits no layout, or something is full.

    Args:
        data: Shape (n,), bytes; the last of them is a newline.
        start: Where the first line starts.
        point: The byte before the decimals.
        literals: Shape (m,), the literals of all layouts, one after the other.
        pieces: Shape (p, 3): begin and end of a literal in ``literals``, and the kind of what
            follows it.
        first_piece: Shape (layouts,), the row of ``pieces`` with which a layout begins.
        bits: Shape (v,), receives the bits of the numbers, line by line.
        layout_of: Shape (lines,), receives the layout of each line.
        hard: Shape (h, 3), receives place in ``bits``, begin and end in ``data`` of each number
            that is left to ``float``.

    Returns:
        Where it stopped, and how many lines, numbers and hard numbers were read.
    """
    i, lines, k, h, layout = start, 0, 0, 0, 0
    count, room = len(first_piece), len(bits) - len(pieces)
    while i < len(data) and lines < len(layout_of) and k < room:
        if data[i] == _NEWLINE:
            i += 1
            continue
        after = -1
        for _ in range(count):
            after, new_k, new_h = _read_line(
                data, i, point, literals, pieces, first_piece[layout], bits, k, hard, h
            )
            if after >= 0:
                break
            layout = layout + 1 if layout + 1 < count else 0
        if after < 0:
            break
        layout_of[lines] = layout
        i, k, h, lines = after, new_k, new_h, lines + 1
    return i, lines, k, h
