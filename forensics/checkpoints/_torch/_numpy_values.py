"""Stand-ins for numpy's scalars and small arrays, which live inside the pickle itself."""

import re
from typing import Any

import numpy as np

from forensics.inert_pickle import Constructor, Inert

_NUMBER = re.compile(r"[<>=|]?(?:[iuf][1248]|b1|[?bhilqBHILQefd])")
"""Codes of plain numbers; nothing else is given to numpy."""


def _scalar(dtype: Any, data: Any = b"") -> int | float | bool:
    """``numpy.core.multiarray.scalar``: a single number."""
    kind = _number_type(dtype)
    raw = data.encode("latin1") if isinstance(data, str) else data
    value = np.frombuffer(raw, kind, count=1)[0].item()
    if not isinstance(value, (int, float)):
        raise TypeError("not a number")
    return value


def _number_type(dtype: Any) -> "np.dtype[Any]":
    if not isinstance(dtype, Inert) or not dtype.args or not isinstance(dtype.args[0], str):
        raise TypeError("not a type")
    if not _NUMBER.fullmatch(dtype.args[0]):
        raise TypeError("not a number")
    order = dtype.state[1] if isinstance(dtype.state, tuple) and len(dtype.state) > 1 else "<"
    return np.dtype(dtype.args[0]).newbyteorder(">" if order == ">" else "<")


NUMPY_CONSTRUCTORS: dict[str, Constructor] = {
    "numpy.core.multiarray.scalar": _scalar,
    "numpy._core.multiarray.scalar": _scalar,
}
