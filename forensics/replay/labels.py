"""The labels inside a batch, found by name or by kind, moved or permuted."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from forensics.replay.batch_store import tensors_in

_NAMES = ("labels", "label", "targets", "target", "y", "lm_labels", "label_ids")


def label_name(batch: Any) -> str | None:
    """Name of the labels as in `tensors_in`: by custom, or the second of a pair."""
    named = tensors_in(batch)
    for name in named:
        if name.rpartition(".")[2].lower() in _NAMES:
            return name
    is_pair = isinstance(batch, list | tuple) and len(batch) == 2
    return "1" if is_pair and "1" in named else None


def with_labels(batch: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any | None:
    """The batch with its labels changed; None where they cannot be told."""
    name = label_name(batch)
    return None if name is None else _replaced(batch, name.split("."), change)


def shifted(by: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """Labels moved along the sequence; what falls off one end comes in at the other."""
    return lambda labels: torch.roll(labels, by, dims=-1)


def permuted(labels: torch.Tensor) -> torch.Tensor:
    """Labels in a fixed random order, tokens among tokens and samples among samples."""
    order = torch.Generator().manual_seed(0)
    if labels.is_floating_point() and labels.dim() > 1:
        return labels[torch.randperm(len(labels), generator=order).to(labels.device)]
    flat = labels.reshape(-1)
    kept = flat >= 0 if not labels.is_floating_point() else torch.ones_like(flat, dtype=torch.bool)
    places = kept.nonzero().squeeze(1)
    mixed = flat.clone()
    mixed[places] = flat[places[torch.randperm(len(places), generator=order).to(flat.device)]]
    return mixed.reshape(labels.shape)


def _replaced(batch: Any, path: list[str], change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if not path:
        return change(batch)
    key, *rest = path
    if isinstance(batch, Mapping):
        return {k: _replaced(v, rest, change) if str(k) == key else v for k, v in batch.items()}
    if hasattr(batch, "_fields"):
        return batch._replace(**{key: _replaced(getattr(batch, key), rest, change)})
    parts = [_replaced(v, rest, change) if str(i) == key else v for i, v in enumerate(batch)]
    return type(batch)(parts)
