"""A plain walk through the fields of a protobuf message that notes which bytes it looked at."""

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types
_FIXED_SIZE = {FIXED64: 8, FIXED32: 4}
_MAX_FIELDS = 1 << 20  # of one message with all inside it; no program writes as many


class MalformedMessageError(Exception):
    """The bytes are not a well-formed message."""


class Walk:
    """A message, and which bits of it have been looked at."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.seen = bytearray(len(data))
        """One mask for each byte: the bits of it that have mattered so far."""
        self._fields = 0

    @property
    def whole(self) -> slice:
        """The outermost message."""
        return slice(0, len(self.data))

    def fields(self, message: slice) -> Iterator[tuple[int, int, slice]]:
        """Number, wire type and value of each field of a message."""
        at, stop = message.start, message.stop
        while at < stop:
            key, value = self.varint(at, stop)
            wire = key & 7
            if wire == VARINT:
                _, end = self.varint(value, stop, mask=0x80)
            elif wire == BYTES:
                size, value = self.varint(value, stop)
                end = value + size
            elif wire in _FIXED_SIZE:
                end = value + _FIXED_SIZE[wire]
            else:
                raise MalformedMessageError
            self._fields += 1
            if end > stop or self._fields > _MAX_FIELDS:
                raise MalformedMessageError
            yield key >> 3, wire, slice(value, end)
            at = end

    def varint(self, at: int, stop: int, mask: int = 0xFF) -> tuple[int, int]:
        """A number and where it ends; ``mask`` says which bits of its bytes matter."""
        number = 0
        for i in range(at, min(stop, at + 10)):
            byte = self.data[i]
            self.seen[i] |= mask
            number |= (byte & 127) << 7 * (i - at)
            if byte < 128:
                return number, i + 1
        raise MalformedMessageError

    def number(self, at: slice) -> int:
        """A varint field's value, every bit of which matters."""
        return self.varint(at.start, at.stop)[0]

    def bytes_at(self, at: slice) -> bytes:
        """Bytes every bit of which matters."""
        self.seen[at] = b"\xff" * (at.stop - at.start)
        return self.data[at]
