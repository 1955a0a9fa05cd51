"""The optimizer as the Trainer of transformers builds it."""

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import nn

from forensics.errors import UnreadableFile
from forensics.readers import hf_training_args
from forensics.readers._base import Probe, no_progress

Group = list[nn.Parameter]
Split = tuple[Group, Group]
"""Parameters with and without weight decay."""

_BY_NAME = re.compile(r"bias|layernorm|rmsnorm|(?:^|\.)norm(?:$|\.)|_norm(?:$|\.)")
"""What the Trainer of 5.x leaves out of weight decay by name, besides what is in a LayerNorm."""
_BY_BIAS = re.compile(r"bias")
"""Older ones went by less, so that the gain of an RMSNorm was decayed."""
_ADAMW = re.compile(r"adamw_(?:hf|torch\w*|apex_fused)")


def read_arguments(checkpoint: Path, run_dir: Path) -> Mapping[str, Any]:
    """The training arguments, read without running anything in them; empty where there are none."""
    for folder in (checkpoint, run_dir):
        path = folder / "training_args.bin"
        try:
            probe = Probe(path, folder, path.stat().st_size)
            if hf_training_args.sniff(probe):
                return hf_training_args.read(probe, no_progress).settings
        except (OSError, UnreadableFile):
            continue
    return {}


def is_known(arguments: Mapping[str, Any]) -> bool:
    """True for the optimizers that `build_optimizer` builds."""
    name = str(arguments.get("optim", "adamw_torch"))
    return name == "sgd" or _ADAMW.fullmatch(name) is not None


def build_optimizer(
    model: nn.Module, arguments: Mapping[str, Any], checkpoint: Path
) -> torch.optim.Optimizer:
    """AdamW or SGD over the Trainer's two groups, in the order that the saved state has.

    Args:
        model: Its parameters.
        arguments: As `read_arguments` gives them.
        checkpoint: Where ``optimizer.pt`` lies; of the ways in which versions of the Trainer
            have grouped parameters, the one whose shapes fit it is taken.
    """
    splits = _splits(model)
    saved = _saved_shapes(checkpoint / "optimizer.pt")
    decayed, free = next((s for s in splits if _fits(s, saved)), splits[0])
    rate = float(arguments.get("learning_rate", 5e-5))
    groups = [
        {"params": decayed, "weight_decay": float(arguments.get("weight_decay", 0.0))},
        {"params": free, "weight_decay": 0.0},
    ]
    if arguments.get("optim") == "sgd":
        return torch.optim.SGD(groups, lr=rate)
    betas = (float(arguments.get("adam_beta1", 0.9)), float(arguments.get("adam_beta2", 0.999)))
    return torch.optim.AdamW(
        groups, lr=rate, betas=betas, eps=float(arguments.get("adam_epsilon", 1e-8))
    )


def _splits(model: nn.Module) -> list[Split]:
    """The ways in which parameters may have been grouped, the latest first."""
    inside = {
        f"{path}.{name}"
        for path, module in model.named_modules()
        if isinstance(module, nn.LayerNorm)
        for name, _ in module.named_parameters()
    }
    trained = {n: p for n, p in model.named_parameters() if p.requires_grad}
    found = []
    for pattern in (_BY_NAME, _BY_BIAS):
        free = {n for n in trained if n in inside or _matches(pattern, n)}
        found.append(
            (
                [p for n, p in trained.items() if n not in free],
                [p for n, p in trained.items() if n in free],
            )
        )
    return found


def _matches(pattern: re.Pattern[str], name: str) -> bool:
    return pattern.search(name.lower()) is not None


def _saved_shapes(path: Path) -> list[list[tuple[int, ...] | None]] | None:
    """Shape of the state of each parameter, by group; None for a parameter without any."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        groups = [group["params"] for group in state["param_groups"]]
        return [[_shape(state["state"].get(index)) for index in group] for group in groups]
    except (
        Exception
    ):  # torch raises a dozen kinds on a damaged file; it is reported as it is loaded
        return None


def _shape(state: Mapping[str, Any] | None) -> tuple[int, ...] | None:
    tensors: Iterable[Any] = (state or {}).values()
    return next((tuple(t.shape) for t in tensors if isinstance(t, torch.Tensor) and t.ndim), None)


def _fits(split: Split, saved: list[list[tuple[int, ...] | None]] | None) -> bool:
    if saved is None or [len(group) for group in saved] != [len(group) for group in split]:
        return False
    pairs = zip(chain(*saved), chain(*split), strict=True)
    return all(shape is None or shape == tuple(own.shape) or not own.ndim for shape, own in pairs)
