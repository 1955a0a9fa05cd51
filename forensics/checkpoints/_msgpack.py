"""Reads a msgpack document by its own rules, arrays as views of the file's bytes.

flax writes numpy's arrays as an extension that holds (shape, type, bytes); the bytes of an array
are passed over, so that a file of any size opens in the time of its headers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from forensics.checkpoints._base import DType
from forensics.checkpoints._dtypes import TORCH
from forensics.checkpoints._reading import Source, read_at
from forensics.checkpoints._views import Storage, is_possible, tensor_of, unread

_MAX_DEPTH = 40
_MAX_VALUES = 500_000
_LONGEST_TEXT = 1 << 20
_ARRAY, _SCALAR = 1, 3
"""flax's extensions: an array, a single number of numpy."""
_NUMBERS = {
    **{0xCA: ("f", 4), 0xCB: ("f", 8), 0xCC: ("u", 1), 0xCD: ("u", 2), 0xCE: ("u", 4)},
    **{0xCF: ("u", 8), 0xD0: ("i", 1), 0xD1: ("i", 2), 0xD2: ("i", 4), 0xD3: ("i", 8)},
}
_SIMPLE = {0xC0: None, 0xC2: False, 0xC3: True}
_BYTES = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_TEXTS = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENSIONS = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_CONTAINERS = {0xDC: (2, False), 0xDD: (4, False), 0xDE: (2, True), 0xDF: (4, True)}


class _Cut(Exception):
    """The document ends early, or goes on as none can."""


@dataclass(frozen=True)
class _Blob:
    """Bytes that were passed over."""

    offset: int
    nbytes: int


@dataclass(eq=False)
class Document:
    """A document as it is read, from one place of the file to its end."""

    file: Source
    path: str
    size: int
    """Bytes of the file."""
    at: int = 0
    whole: bool = True
    """Whether nothing was cut off or damaged."""
    _left: int = field(default=_MAX_VALUES)

    def read(self) -> Any:
        """The document: dicts, lists, numbers, texts, and `StoredTensor` for arrays."""
        try:
            return self._value(0)
        except _Cut:
            self.whole = False
            return None

    def _value(self, depth: int) -> Any:
        self._left -= 1
        if depth > _MAX_DEPTH or self._left < 0:
            raise _Cut
        code = self._take(1)[0]
        if code < 0x80 or code >= 0xE0:
            return code if code < 0x80 else code - 0x100
        if code in _SIMPLE:
            return _SIMPLE[code]
        if code in _NUMBERS:
            return self._number(*_NUMBERS[code])
        if 0xA0 <= code <= 0xBF or code in _TEXTS:
            length = code - 0xA0 if code <= 0xBF else self._length(_TEXTS[code])
            return self._text(length)
        if code in _BYTES:
            return self._blob(self._length(_BYTES[code]))
        if code in _EXTENSIONS or 0xD4 <= code <= 0xD8:
            length = self._length(_EXTENSIONS[code]) if code in _EXTENSIONS else 1 << (code - 0xD4)
            return self._extension(length, depth)
        if code <= 0x9F or code in _CONTAINERS:
            return self._container(code, depth)
        raise _Cut

    def _container(self, code: int, depth: int) -> Any:
        if code in _CONTAINERS:
            width, named = _CONTAINERS[code]
            count = self._length(width)
        else:
            count, named = code & 0x0F, code <= 0x8F
        return self._entries(count, depth) if named else self._items(count, depth)

    def _entries(self, count: int, depth: int) -> dict[Any, Any]:
        """A map, as far as it is there."""
        found: dict[Any, Any] = {}
        try:
            for _ in range(count):
                key = self._value(depth + 1)
                value = self._value(depth + 1)
                found[key if isinstance(key, (str, int, bool)) else "?"] = value
                if not self.whole:
                    break
        except _Cut:
            self.whole = False
        return found

    def _items(self, count: int, depth: int) -> list[Any]:
        """An array of msgpack's, as far as it is there."""
        found: list[Any] = []
        try:
            for _ in range(count):
                found.append(self._value(depth + 1))
                if not self.whole:
                    break
        except _Cut:
            self.whole = False
        return found

    def _extension(self, length: int, depth: int) -> Any:
        kind = self._take(1)[0]
        end = self.at + length
        if kind not in (_ARRAY, _SCALAR):
            self.at = end
            return None
        inner = self._value(depth + 1)
        self.at = end
        return self._array(inner) if isinstance(inner, list) and len(inner) == 3 else None

    def _array(self, parts: list[Any]) -> Any:
        shape, name, blob = parts
        dtype, itemsize = TORCH.get(str(name), (DType.OTHER, 1))
        lengths = tuple(shape) if isinstance(shape, list) else ()
        if not isinstance(blob, _Blob) or not is_possible(lengths, itemsize):
            return unread(dtype, (), "its header is damaged")
        there = max(0, min(blob.nbytes, self.size - blob.offset))
        if there < blob.nbytes:
            self.whole = False
        return tensor_of(
            Storage(self.path, blob.offset, there, blob.nbytes), dtype, itemsize, lengths
        )

    def _number(self, kind: str, width: int) -> float | int:
        raw = self._take(width)
        if kind == "f":
            import struct

            return float(struct.unpack(">f" if width == 4 else ">d", raw)[0])
        return int.from_bytes(raw, "big", signed=kind == "i")

    def _text(self, length: int) -> str:
        if length > _LONGEST_TEXT:
            self.at += length
            return ""
        return self._take(length).decode("utf-8", "replace")

    def _blob(self, length: int) -> _Blob:
        found = _Blob(self.at, length)
        self.at += length
        return found

    def _length(self, width: int) -> int:
        return int.from_bytes(self._take(width), "big")

    def _take(self, count: int) -> bytes:
        if self.at + count > self.size:
            raise _Cut
        raw = read_at(self.file, self.at, count)
        if len(raw) < count:
            raise _Cut
        self.at += count
        return raw


def leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values of nested dicts and lists, each with its path."""
    if isinstance(tree, (dict, list)):
        for key, held in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from leaves(held, (*path, str(key)))
    else:
        yield path, tree
