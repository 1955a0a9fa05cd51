"""The precision of a step: autocast as the run had it, or forced to one type."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch

_TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


@contextmanager
def precision_of(precision: str, device: str, *, forced: bool = False) -> Iterator[None]:
    """Run a forward pass as under mixed precision of the named kind.

    Args:
        precision: ``fp32``, ``bf16`` or ``fp16``; anything else counts as fp32.
        device: Type of the device, ``cpu`` or ``cuda``.
        forced: Overrule an autocast that the user's own functions ask for.
    """
    dtype = _TYPES.get(precision)
    cast: Any = nullcontext() if dtype is None else torch.autocast(device, dtype)
    with _overruled(dtype) if forced else nullcontext(), cast:
        yield


@contextmanager
def _overruled(dtype: torch.dtype | None) -> Iterator[None]:
    """Every autocast inside takes this type, or is off where it is None."""
    autocast = torch.amp.autocast_mode.autocast
    enter = autocast.__enter__

    def entered(self: Any) -> Any:
        self._enabled = dtype is not None
        self.fast_dtype = dtype or self.fast_dtype
        return enter(self)  # type: ignore[no-untyped-call]

    autocast.__enter__ = entered  # type: ignore[method-assign]
    try:
        yield
    finally:
        autocast.__enter__ = enter  # type: ignore[method-assign]
