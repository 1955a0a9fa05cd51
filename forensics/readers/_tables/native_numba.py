"""How the hot loops of this package are compiled."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Without reference counts on the arrays, which are only borrowed here, the loop takes half the
# time; without the lock of the interpreter, several blocks can be read at once.
_OPTIONS: dict[str, Any] = {"nogil": True, "forceinline": True, "_nrt": False}


def native(function: _Function) -> _Function:
    """Compile a function that makes no arrays; the result is kept on disk where it can be."""
    try:
        compiled: _Function = njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # no folder to keep it in may be written
        compiled = njit(**_OPTIONS)(function)
    return compiled
