"""The loss as the Trainer of transformers takes it from the model."""

import inspect
from typing import Any

import torch
from torch import nn

from forensics.replay.adapters._captured import Batch
from forensics.replay.errors import ReplayError

IGNORED = -100
COUNTS_TARGETS = (5, 10)
"""From about here on the Trainer divides a causal model's loss by the labels that are targets; up
to 5.5 it counted the first label of each row as well (huggingface/transformers#46204)."""


def compute_loss(
    model: nn.Module, batch: Batch | list[Batch], version: tuple[int, ...] = COUNTS_TARGETS
) -> torch.Tensor:
    """The model's own loss, of several micro-batches as the Trainer adds them up.

    Args:
        model: In training mode.
        batch: Tensors by name, or such a mapping for each micro-batch.
        version: Of the transformers that the run trained with.

    Raises:
        ReplayError: The model gives none for this batch, or raises.
    """
    parts = batch if isinstance(batch, list) else [batch]
    if _takes_counts(model) and all("labels" in part for part in parts):
        labels = [_targets(model, part, version) for part in parts]
        count = torch.stack([(of_part != IGNORED).sum() for of_part in labels]).sum()
        return torch.stack([_loss(model, part, num_items_in_batch=count) for part in parts]).sum()
    return torch.stack([_loss(model, part) for part in parts]).mean()


def _takes_counts(model: nn.Module) -> bool:
    """True where the Trainer tells the model how many labels the whole step has."""
    if hasattr(model, "accepts_loss_kwargs"):
        return bool(model.accepts_loss_kwargs)
    parameters = inspect.signature(model.forward).parameters.values()
    return any(p.kind is p.VAR_KEYWORD for p in parameters)


def _targets(model: nn.Module, batch: Batch, version: tuple[int, ...]) -> torch.Tensor:
    """The labels that the Trainer counts."""
    from transformers.loss.loss_utils import LOSS_MAPPING, ForCausalLMLoss

    if version < COUNTS_TARGETS:
        return batch["labels"]
    if "shift_labels" in batch:
        return batch["shift_labels"]
    kind: Any = getattr(model, "loss_type", None)
    config: Any = getattr(model, "config", None)
    shifts = LOSS_MAPPING.get(kind) is ForCausalLMLoss
    if shifts and not getattr(config, "is_encoder_decoder", False):
        return batch["labels"][..., 1:]
    return batch["labels"]


def _loss(model: nn.Module, batch: Batch, **counts: torch.Tensor) -> torch.Tensor:
    try:
        loss = getattr(model(**batch, **counts), "loss", None)
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:400]
        raise ReplayError(f"{type(model).__name__} raised on a captured batch: {said}") from error
    if loss is None:
        raise ReplayError(
            f"{type(model).__name__} gives no loss for a batch of {', '.join(batch)}; its labels "
            "were not captured, or the loss was the user's own: name a replay file"
        )
    result: torch.Tensor = loss.mean()
    return result
