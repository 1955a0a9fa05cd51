"""Reads fields of an HDF5 file, and never beyond it or for ever."""

import struct
from dataclasses import dataclass

from forensics.checkpoints._reading import Source, read_at
from forensics.errors import UnreadableFile

UNDEFINED = 0xFFFFFFFFFFFFFFFF
MAX_READS = 500_000
MAX_BLOCK = 1 << 20


@dataclass(eq=False)
class Bytes:
    """An HDF5 file in a range of a file."""

    file: Source
    start: int
    nbytes: int
    left: int = MAX_READS

    def read(self, offset: int, nbytes: int) -> bytes:
        """A block.

        Raises:
            UnreadableFile: It is not wholly there, or the file has sent us round in circles.
        """
        self.left -= 1
        if not 0 <= offset <= offset + nbytes <= self.nbytes or nbytes > MAX_BLOCK:
            raise UnreadableFile("damaged HDF5 file (an address lies outside)")
        if self.left < 0:
            raise UnreadableFile("damaged HDF5 file (it refers to itself)")
        data = read_at(self.file, self.start + offset, nbytes)
        if len(data) < nbytes:
            raise UnreadableFile("damaged HDF5 file (it is cut off)")
        return data

    def unpack(self, layout: str, offset: int) -> tuple[int, ...]:
        """Little-endian fields."""
        return struct.unpack(f"<{layout}", self.read(offset, struct.calcsize(f"<{layout}")))


def expect(condition: bool, what: str) -> None:
    """Check a signature or a version.

    Raises:
        UnreadableFile: It is not what it should be.
    """
    if not condition:
        raise UnreadableFile(f"damaged HDF5 file ({what})")
