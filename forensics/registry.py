"""Collects plugins: every module of a room ends in one declared object.

A room is a package such as ``forensics.readers``. A module in it whose name starts with an
underscore is shared machinery; every other module must declare the room's object (``READER``,
``DETECTOR``, ``CAUSE``). Nothing registers itself and no list is kept by hand.
"""

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def collect(room: ModuleType, attribute: str) -> list[Any]:
    """Import every public module of ``room`` and return its declared objects, by module name.

    Raises:
        AttributeError: A public module of the room declares no ``attribute``.
    """
    names = sorted(m.name for m in pkgutil.iter_modules(room.__path__) if m.name[0] != "_")
    modules = [importlib.import_module(f"{room.__name__}.{name}") for name in names]
    return [getattr(module, attribute) for module in modules]
