"""Reads zip archives by offset, damaged and half-written ones too; nothing is ever extracted.

A checkpoint's tensors are stored uncompressed, so that an entry is a byte range of the file. The
checksums are left alone: torch may write zeros in their place, and checks none itself. A name
that leads outside is only a name here.
"""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.checkpoints._zip._archive import Archive as Archive
    from forensics.checkpoints._zip._archive import read_archive as read_archive
    from forensics.checkpoints._zip._deflated import inflate as inflate
    from forensics.checkpoints._zip._deflated import inflated as inflated
    from forensics.checkpoints._zip._member import DEFLATED as DEFLATED
    from forensics.checkpoints._zip._member import STORED as STORED
    from forensics.checkpoints._zip._member import Member as Member
    from forensics.checkpoints._zip._member import read_local_header as read_local_header
    from forensics.checkpoints._zip._sight import SIGNATURE as SIGNATURE
    from forensics.checkpoints._zip._sight import first_name as first_name

__getattr__ = on_use(
    __name__,
    {
        "_archive": ("Archive", "read_archive"),
        "_deflated": ("inflate", "inflated"),
        "_member": ("DEFLATED", "STORED", "Member", "read_local_header"),
        "_sight": ("SIGNATURE", "first_name"),
    },
)
