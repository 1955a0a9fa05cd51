"""CRC-32C (Castagnoli) of many byte strings at once.

A checksum is linear over GF(2): the register after a message is the exclusive or of what each byte
would leave alone, followed by zeros for the rest. So the bytes of equal-length messages are looked
up column by column, a column in which all messages agree need not be looked up at all, and long
messages are cut into blocks whose registers are joined at the end.

TFRecord files store checksums *masked* (rotated by 15 bits, plus a constant), so that a record
that itself holds records does not look valid.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from forensics.readers._event_file.words import Bytes, Index, rows_at

POLYNOMIAL = 0x82F63B78  # 0x1EDC6F41 with its bits reversed
MASK_DELTA = 0xA282EAD8
LONGEST_ROW = 512  # bytes; longer messages are cut
_BLOCK = 128  # bytes that they are cut into
_SLICE = 1 << 14  # rows done at a time, so that every temporary array stays in the cache

Registers = NDArray[np.uint32]
Words = NDArray[np.uint64]


def masked_crc(message: bytes) -> int:
    """Masked checksum of one short message."""
    table = _table_of_ints()
    register = 0xFFFFFFFF
    for byte in message:
        register = table[(register ^ byte) & 255] ^ (register >> 8)
    crc = register ^ 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF


def masked_crc_of_rows(words: Words, length: int) -> Registers:
    """Masked checksums of equal-length messages.

    Args:
        words: Shape (n, k), little-endian; each row is a message, right-aligned behind zeros.
        length: Bytes in each message, at most `LONGEST_ROW`.

    Returns:
        Shape (n,).
    """
    return _masked(_registers(words), np.full(1, length))


def masked_crc_of_spans(data: Bytes, start: Index, length: Index) -> Registers:
    """Masked checksums of ``data[start:start + length]``, of any lengths above zero.

    Args:
        data: Shape (size,).
        start: Shape (n,).
        length: Shape (n,), bytes.

    Returns:
        Shape (n,).
    """
    if not len(start):
        return np.zeros(0, np.uint32)
    count = -(-length // _BLOCK)
    stop = np.cumsum(count)
    owner = np.repeat(np.arange(len(start)), count)
    behind = _BLOCK * (stop[owner] - np.arange(len(owner)) - 1)  # bytes after each block
    end = (start + length)[owner] - behind
    size = np.minimum(length[owner] - behind, _BLOCK)
    padded = np.concatenate((np.zeros(_BLOCK, np.uint8), data))
    parts = [
        _registers(_blocks(padded, end[i : i + _SLICE], size[i : i + _SLICE]))
        for i in range(0, len(owner), _SLICE)
    ]
    moved = _append_zeros(np.concatenate(parts), behind)
    return _masked(np.bitwise_xor.reduceat(moved, stop - count), length)


def _blocks(padded: Bytes, end: Index, size: Index) -> Words:
    """Shape (n, _BLOCK / 8): the ``size`` bytes before each ``end``, behind zeros.

    ``padded`` begins with _BLOCK bytes that ``end`` does not count.
    """
    rows = rows_at(padded, end, _BLOCK)
    short = np.flatnonzero(size < _BLOCK)
    rows[short] *= np.arange(_BLOCK) >= _BLOCK - size[short, None]
    return rows.view("<u8")


def _registers(words: Words) -> Registers:
    """Shape (n,): the register after each row, from a register of zero."""
    parts = [_registers_of_slice(words[i : i + _SLICE]) for i in range(0, len(words), _SLICE)]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint32)


def _registers_of_slice(words: Words) -> Registers:
    tables = _tables_by_distance()
    register = np.zeros(len(words), np.uint32)
    constant = 0
    for column in range(words.shape[1]):
        behind = 8 * (words.shape[1] - column) - 1  # bytes after the word's first
        first = words[0, column]
        difference = words[:, column] ^ first
        differing = int(np.bitwise_or.reduce(difference))
        index = difference.view(np.int64)
        for byte in range(8):
            table = tables[behind - byte]
            constant ^= int(table[int(first) >> 8 * byte & 255])
            if differing >> 8 * byte & 255:
                register ^= table[index >> 8 * byte & 255]
    return register ^ np.uint32(constant)


def _masked(register: Registers, length: Index) -> Registers:
    """Finish registers that began at zero: the start value's part, inversion, the mask."""
    starts, inverse = np.unique(length, return_inverse=True)
    begun = _append_zeros(np.full(len(starts), 0xFFFFFFFF, np.uint32), starts)
    crc: Registers = register ^ begun[inverse] ^ np.uint32(0xFFFFFFFF)
    masked: Registers = (crc >> np.uint32(15) | crc << np.uint32(17)) + np.uint32(MASK_DELTA)
    return masked


def _append_zeros(register: Registers, count: Index) -> Registers:
    """Shape (n,): the registers after ``count`` (n,) further zero bytes each."""
    for power in range(int(count.max(initial=0)).bit_length()):
        chosen = (count >> power & 1).astype(bool)
        if chosen.any():
            register = np.where(chosen, _through(_zeros_tables(power), register), register)
    return register


def _through(tables: Registers, register: Registers) -> Registers:
    """Apply a linear map, given by its tables (4, 256), to registers of any shape."""
    first, second, third, fourth = tables
    moved: Registers = first[register & 255] ^ second[register >> 8 & 255]
    moved ^= third[register >> 16 & 255]
    moved ^= fourth[register >> 24]
    return moved


@cache
def _byte_table() -> Registers:
    """Shape (256,): the register after one byte, from a register of zero."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(POLYNOMIAL), table >> 1)
    return table


@cache
def _table_of_ints() -> list[int]:
    return [int(register) for register in _byte_table()]


@cache
def _tables_by_distance() -> Registers:
    """Shape (LONGEST_ROW + 8, 256): what a byte leaves, by the number of zero bytes behind it."""
    tables = [_byte_table()]
    for _ in range(LONGEST_ROW + 7):
        tables.append(_byte_table()[tables[-1] & 255] ^ (tables[-1] >> 8))
    return np.stack(tables)


@cache
def _zeros_tables(power: int) -> Registers:
    """Shape (4, 256): what ``2 ** power`` zero bytes make of each byte of a register."""
    if power:
        half = _zeros_tables(power - 1)
        return _through(half, half)
    units = np.arange(256, dtype=np.uint32) << np.array([[0], [8], [16], [24]], np.uint32)
    one: Registers = _byte_table()[units & 255] ^ (units >> 8)
    return one
