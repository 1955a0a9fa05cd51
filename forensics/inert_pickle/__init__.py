"""Reads a pickle without importing or calling anything that it names.

A pickle is a program for a small stack machine, and Python's own unpickler imports and calls
whatever the program asks for. `load` runs the same program with every global replaced by an
inert stand-in: a class becomes a `Global`, what would have been built from it an `Inert` that
keeps the arguments and the state. Only containers of the standard library become plain values.

The pickle is taken to be hostile: the number of operations is bounded (each makes at most one
small object), nothing is allocated on the word of a length field, and no key is hashed that nests
deep. What comes out may still refer to itself or nest deep; `plain` copies it within bounds.
"""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.inert_pickle._machine import MAX_OPERATIONS as MAX_OPERATIONS
    from forensics.inert_pickle._machine import load as load
    from forensics.inert_pickle._plain import plain as plain
    from forensics.inert_pickle._stand_ins import Constructor as Constructor
    from forensics.inert_pickle._stand_ins import Global as Global
    from forensics.inert_pickle._stand_ins import Inert as Inert

__getattr__ = on_use(
    __name__,
    {
        "_machine": ("MAX_OPERATIONS", "load"),
        "_plain": ("plain",),
        "_stand_ins": ("Constructor", "Global", "Inert"),
    },
)
