"""Batches as the user's function gives them, on the device, kept while there is room."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import torch

from forensics.replay.spec import ReplaySpec

ROOM = 1 << 28
"""Bytes of batches that are kept."""


class BatchStore:
    """Loads the batch of a step; the random numbers of the training are left untouched by it."""

    def __init__(self, spec: ReplaySpec, device: torch.device) -> None:
        self._spec, self._device = spec, device
        self._kept: OrderedDict[int, Any] = OrderedDict()
        self._size = 0

    def load(self, step: int) -> Any:
        """The batch of a step, its tensors on the device."""
        if step not in self._kept:
            with torch.random.fork_rng(devices=[]):
                batch = moved(self._spec.load_batch(step), self._device)
            self._kept[step] = batch
            self._size += _nbytes(batch)
            while self._size > ROOM and len(self._kept) > 1:
                self._size -= _nbytes(self._kept.popitem(last=False)[1])
        return self._kept[step]


def moved(batch: Any, device: torch.device) -> Any:
    """The batch with every tensor in it on the device."""
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, Mapping):
        copies = {key: moved(value, device) for key, value in batch.items()}
        return copies if type(batch) is dict else _as_before(batch, copies)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(moved(value, device) for value in batch))
    if isinstance(batch, list | tuple):
        return type(batch)(moved(value, device) for value in batch)
    return batch


def _as_before(batch: Mapping[Any, Any], copies: dict[Any, Any]) -> Any:
    """A mapping of the user's own kind where it can be made from a plain one."""
    try:
        return type(batch)(copies)  # type: ignore[call-arg]
    except TypeError:
        return copies


def tensors_in(batch: Any, name: str = "") -> dict[str, torch.Tensor]:
    """Every tensor of a batch by its name: keys, or positions as ``0``, ``1.mask``."""
    if isinstance(batch, torch.Tensor):
        return {name or "x": batch}
    parts: Any = ()
    if isinstance(batch, Mapping):
        parts = batch.items()
    elif isinstance(batch, tuple) and hasattr(batch, "_fields"):
        parts = zip(batch._fields, batch, strict=True)
    elif isinstance(batch, list | tuple):
        parts = enumerate(batch)
    found: dict[str, torch.Tensor] = {}
    for key, value in parts:
        found |= tensors_in(value, f"{name}.{key}" if name else str(key))
    return found


def _nbytes(batch: Any) -> int:
    return sum(t.nbytes for t in tensors_in(batch).values())
