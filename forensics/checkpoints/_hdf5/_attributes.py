"""Attributes that are text: Keras keeps its configuration and its layers' names in them."""

import struct
from collections.abc import Iterator, Sequence

from forensics.checkpoints._hdf5._arrays import shape_of
from forensics.checkpoints._hdf5._bytes import Bytes
from forensics.checkpoints._hdf5._headers import Message
from forensics.errors import UnreadableFile

_ATTRIBUTE = 0x0C
_STRING, _VARIABLE = 3, 9
_MAX_TEXT = 1 << 20


def texts(source: Bytes, found: Sequence[Message]) -> dict[str, str]:
    """Name -> text, of the attributes of an object; a damaged one is left out."""
    return dict(_texts(source, found))


def _texts(source: Bytes, found: Sequence[Message]) -> Iterator[tuple[str, str]]:
    for message in found:
        if message.kind != _ATTRIBUTE or len(message.data) < 8 or not 1 <= message.data[0] <= 3:
            continue
        try:
            parsed = _text(source, message.data)
        except (UnreadableFile, struct.error, IndexError):
            continue
        if parsed is not None:
            yield parsed


def _text(source: Bytes, data: bytes) -> tuple[str, str] | None:
    version = data[0]
    name_size, type_size, space_size = struct.unpack_from("<3H", data, 2)
    at = 9 if version == 3 else 8
    unit = 8 if version == 1 else 1  # the first version pads every part
    name = data[at : at + name_size].partition(b"\0")[0].decode("utf-8", "replace")
    at += -(-name_size // unit) * unit
    kind = data[at : at + type_size]
    at += -(-type_size // unit) * unit
    shape = shape_of(data[at : at + space_size])
    at += -(-space_size // unit) * unit
    if shape != ():
        return None
    raw = _value(source, kind, data[at:])
    return None if raw is None else (name, raw.partition(b"\0")[0].decode("utf-8", "replace"))


def _value(source: Bytes, kind: bytes, data: bytes) -> bytes | None:
    if kind[0] & 15 == _STRING:
        return data[: int.from_bytes(kind[4:8], "little")]
    if kind[0] & 15 != _VARIABLE or kind[1] & 15 != 1:
        return None
    length, heap, index = struct.unpack_from("<LQL", data)
    return _from_heap(source, heap, index)[: min(length, _MAX_TEXT)]


def _from_heap(source: Bytes, heap: int, index: int) -> bytes:
    """An object of a global heap, where texts of any length are kept.

    Raises:
        UnreadableFile: It is not there.
    """
    if source.read(heap, 4) != b"GCOL":
        raise UnreadableFile("no heap")
    (size,) = source.unpack("Q", heap + 8)
    at, end = heap + 16, heap + size
    while at + 16 <= end:
        number, _, _, nbytes = source.unpack("HHLQ", at)
        if number == index:
            return source.read(at + 16, min(nbytes, _MAX_TEXT))
        if number == 0:
            break
        at += 16 + -(-nbytes // 8) * 8
    raise UnreadableFile("not in the heap")
