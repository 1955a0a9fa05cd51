"""Reads zip archives by offset, damaged and half-written ones too; nothing is ever extracted.

A checkpoint's tensors are stored uncompressed, so that an entry is a byte range of the file. The
checksums are left alone: torch may write zeros in their place, and checks none itself. A name
that leads outside is only a name here.
"""

from forensics.checkpoints._zip._archive import Archive, read_archive
from forensics.checkpoints._zip._deflated import inflate, inflated
from forensics.checkpoints._zip._member import DEFLATED, STORED, Member, read_local_header

__all__ = [
    "DEFLATED",
    "STORED",
    "Archive",
    "Member",
    "inflate",
    "inflated",
    "read_archive",
    "read_local_header",
]
