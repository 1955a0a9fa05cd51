"""Shape, type and place of an array, from the messages of its header."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from forensics.checkpoints._hdf5._bytes import UNDEFINED
from forensics.checkpoints._hdf5._headers import Message

DATASPACE, DATATYPE, LAYOUT, _FILTERS = 0x01, 0x03, 0x08, 0x0B
_INTEGER, _FLOAT, _ENUM = 0, 1, 8
_MAX_DIMENSIONS = 32
_IEEE = {2: 5, 4: 8, 8: 11}
"""Bytes of a float -> bits of its exponent."""


@dataclass(frozen=True)
class Described:
    """An array without its name."""

    shape: tuple[int, ...]
    dtype: str
    """numpy's code, or ``|V<n>`` for what is no plain number."""
    offset: int | None
    """Of its bytes; None where they are chunked, within the header, or were never written."""


def described(found: Sequence[Message]) -> Described | None:
    """What the messages say of an array; None where they are not those of one."""
    space = next((m.data for m in found if m.kind == DATASPACE), None)
    kind = next((m for m in found if m.kind == DATATYPE), None)
    layout = next((m.data for m in found if m.kind == LAYOUT), None)
    if space is None or kind is None or layout is None:
        return None
    shape = shape_of(space)
    if shape is None:
        return None
    filtered = any(m.kind == _FILTERS for m in found)
    code = "|V1" if kind.shared else type_code(kind.data)
    return Described(shape, code, None if filtered else _place(layout))


def shape_of(space: bytes) -> tuple[int, ...] | None:
    """Lengths, from a dataspace message; () of a single value."""
    if len(space) < 4 or space[0] not in (1, 2):
        return None
    rank, start = space[1], 8 if space[0] == 1 else 4
    if rank > _MAX_DIMENSIONS or len(space) < start + 8 * rank:
        return None
    return struct.unpack_from(f"<{rank}Q", space, start)


def type_code(data: bytes) -> str:
    """Numpy's code, from a datatype message."""
    if len(data) < 8:
        return "|V1"
    kind, bits = data[0] & 15, data[1]
    size = int.from_bytes(data[4:8], "little")
    order = ">" if bits & 1 else "<"
    if kind == _INTEGER and size in (1, 2, 4, 8):
        return f"{order}{'i' if bits & 8 else 'u'}{size}"
    if kind == _FLOAT and len(data) >= 16 and _IEEE.get(size) == data[13]:
        return f"{order}f{size}"
    if kind == _FLOAT and size == 2 and data[13:14] == b"\x08":
        return "bfloat16"
    if kind == _ENUM and size == 1:
        return "|b1"  # h5py's booleans
    return f"|V{min(size, 1 << 20) or 1}"


def _place(layout: bytes) -> int | None:
    """Address of an array that lies in one piece."""
    if len(layout) < 18 or layout[0] not in (3, 4) or layout[1] != 1:
        return None
    (address,) = struct.unpack_from("<Q", layout, 2)
    return None if address == UNDEFINED else int(address)
