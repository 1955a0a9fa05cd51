"""How the hot loops of this package are compiled."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Without reference counts on the arrays, which are only borrowed here, the loop takes half the
# time; without the lock of the interpreter, several blocks can be read at once.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "forceinline": True, "_nrt": False}


def native(function: _Function) -> _Function:
    """Compile a function that makes no arrays; the result is kept on disk."""
    compiled: _Function = njit(**_OPTIONS)(function)
    return compiled
