"""Members of a group: symbol tables, as h5py writes them, and links in the header itself."""

import struct
from collections.abc import Iterator, Sequence

from forensics.checkpoints._hdf5._bytes import UNDEFINED, Bytes, expect
from forensics.checkpoints._hdf5._headers import Message

_SYMBOLS, _LINK, _LINK_INFO = 0x11, 0x06, 0x02
_MAX_DEPTH = 32
_SOFT_LINK = 2
"""Cache type of an entry that is a name, not an address."""


def is_group(found: Sequence[Message]) -> bool:
    """True for the messages of a group."""
    return any(message.kind in (_SYMBOLS, _LINK, _LINK_INFO) for message in found)


def members(source: Bytes, found: Sequence[Message]) -> Iterator[tuple[str, int]]:
    """(name, address) of what a group holds; links to other files or names are left out.

    Raises:
        UnreadableFile: It is damaged, or keeps its links in a way that is not read here.
    """
    for message in found:
        if message.kind == _SYMBOLS:
            tree, heap = struct.unpack_from("<2Q", message.data.ljust(16, b"\0"))
            yield from _symbols(source, tree, _heap_data(source, heap))
        elif message.kind == _LINK:
            link = _link(message.data)
            if link is not None:
                yield link
        elif message.kind == _LINK_INFO:
            flags = message.data[1] if len(message.data) > 1 else 0
            at = 10 if flags & 1 else 2
            (heap,) = struct.unpack_from("<Q", message.data.ljust(32, b"\0"), at)
            expect(heap == UNDEFINED, "links in a heap, as only recent versions write them")


def _heap_data(source: Bytes, heap: int) -> tuple[int, int]:
    """(address, bytes) of the names."""
    expect(source.read(heap, 4) == b"HEAP", "no names")
    size, _, address = source.unpack("3Q", heap + 8)
    return address, size


def _symbols(
    source: Bytes, tree: int, names: tuple[int, int], depth: int = 0
) -> Iterator[tuple[str, int]]:
    """Walk the tree's leaves."""
    expect(depth < _MAX_DEPTH, "a tree that holds itself")
    signature = source.read(tree, 4)
    if signature == b"TREE":
        (count,) = source.unpack("H", tree + 6)
        for index in range(count):
            (child,) = source.unpack("Q", tree + 24 + 8 + 16 * index)
            yield from _symbols(source, child, names, depth + 1)
        return
    expect(signature == b"SNOD", "no table of names")
    (count,) = source.unpack("H", tree + 6)
    for index in range(count):
        name, address, kind = source.unpack("QQL", tree + 8 + 40 * index)
        if kind != _SOFT_LINK:
            yield _name(source, names, name), address


def _name(source: Bytes, names: tuple[int, int], offset: int) -> str:
    address, size = names
    expect(offset < size, "a name lies outside")
    raw = source.read(address + offset, min(size - offset, 4096, source.nbytes - address - offset))
    return raw.partition(b"\0")[0].decode("utf-8", "replace")


def _link(data: bytes) -> tuple[str, int] | None:
    """A link message that leads to an object of the same file."""
    if len(data) < 4 or data[0] != 1:
        return None
    flags, at = data[1], 2
    if flags & 8:
        if data[at] != 0:
            return None
        at += 1
    at += (8 if flags & 4 else 0) + (1 if flags & 16 else 0)
    width = 1 << (flags & 3)
    length = int.from_bytes(data[at : at + width], "little")
    name = data[at + width : at + width + length]
    rest = data[at + width + length :]
    if len(rest) < 8:
        return None
    return name.decode("utf-8", "replace"), struct.unpack_from("<Q", rest)[0]
