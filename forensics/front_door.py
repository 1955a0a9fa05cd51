"""Lets a package name what it offers, and import each thing only when somebody asks for it.

Most of what a package offers is needed for few inputs: a checkpoint is of one format out of
fifteen. A package whose ``__init__`` ends in ``__getattr__ = on_use(...)`` costs next to nothing
to import; its users write ``_zip.read_archive(file)`` where they need it.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def on_use(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package.

    Args:
        package: Its ``__name__``.
        homes: Module of the package -> names that it defines and the package offers.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)  # the next look finds it without asking
        return value

    return get
