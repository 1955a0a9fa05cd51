"""Numbers the tags of an event file, many events at a time."""

import numpy as np
from numpy.typing import NDArray

_SLOT_BITS = 16
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio, odd


class TagTable:
    """Every tag seen so far, by number; a tag is recognised by a hash of 64 bits."""

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self._numbers: dict[int, int] = {}
        self._keys = np.zeros(16, np.uint64)  # by number; no key is zero
        self._slots = np.zeros(1 << _SLOT_BITS, np.int64)  # by the key's upper bits: a number

    def identify(self, tags: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The number of each tag; new ones get the next.

        Args:
            tags: Shape (n, length), one tag of ``length`` bytes in each row.

        Returns:
            Shape (n,).
        """
        words = _words(tags)
        if len(words) > 1 and (words == words[0]).all():
            return np.repeat(self.identify(tags[:1]), len(tags))
        key = _hash(words, tags.shape[1])
        number = self._slots[(key >> np.uint64(64 - _SLOT_BITS)).view(np.int64)]
        strange = np.flatnonzero(self._keys[number] != key)
        if len(strange):
            _, first, which = np.unique(key[strange], return_index=True, return_inverse=True)
            known = [self._number(int(key[i]), tags[i].tobytes()) for i in strange[first]]
            number[strange] = np.array(known)[which]
        return number

    def _number(self, key: int, tag: bytes) -> int:
        number = self._numbers.setdefault(key, len(self.names))
        if number == len(self.names):
            self.names.append(tag)
            if number == len(self._keys):
                self._keys = np.concatenate((self._keys, np.zeros_like(self._keys)))
            self._keys[number] = key
            self._slots[key >> 64 - _SLOT_BITS] = number
        return number


def _words(tags: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Shape (n, k): each tag with zeros behind it."""
    count, length = tags.shape
    padded = np.zeros((count, -(-length // 8) * 8), np.uint8)
    padded[:, :length] = tags
    return padded.view("<u8")


def _hash(words: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """Shape (n,), never zero; an odd multiplier and shifts lose nothing of an 8-byte word."""
    key = np.full(len(words), length + 1, np.uint64)
    for column in range(words.shape[1]):
        key ^= words[:, column]
        key *= _MULTIPLIER
        key ^= key >> np.uint64(32)
    return key | np.uint64(1)
