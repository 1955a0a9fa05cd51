"""What a checkpoint holds, as torch tensors; no class that it names is imported.

`torch.load` with ``weights_only=True`` refuses much that real checkpoints hold (an
``argparse.Namespace``, callbacks, whole configurations), so what it refuses is read once more by
an unpickler that knows tensors and plain containers and puts an inert stand-in for the rest.
"""

import pickle
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from forensics.checkpoints import Role, open_checkpoint
from forensics.errors import UnreadableFile
from forensics.inert_pickle import Inert
from forensics.replay.errors import ReplayError
from forensics.replay.stored_tensors import read_tensors

State = dict[str, torch.Tensor]

_MODEL_KEYS = ("model", "state_dict", "model_state_dict", "model_state", "module", "net", "weights")
_OPTIMIZER_KEYS = (
    "optimizer",
    "optimizer_state_dict",
    "optimizer_states",
    "optimizer_state",
    "optim",
    "opt",
)
_WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")
_TENSOR_GLOBALS = ("torch", "torch._utils", "torch._tensor", "torch.serialization", "torch.storage")
_REBUILDERS = frozenset(
    (
        "_rebuild_tensor",
        "_rebuild_tensor_v2",
        "_rebuild_tensor_v3",
        "_rebuild_parameter",
        "_rebuild_parameter_with_state",
        "Size",
        "device",
    )
)


@dataclass(frozen=True)
class StoredState:
    """Weights and optimizer state of one checkpoint, on the CPU, mapped where that is possible."""

    weights: State
    """Name -> tensor, as the checkpoint spells the names."""
    optimizer: Mapping[str, Any] | None = None
    """An optimizer's ``state_dict()``; None: none was saved in a layout that is known."""
    scaler: Mapping[str, Any] | None = None
    rng: torch.Tensor | None = None
    """State of torch's CPU generator."""


def read_state(path: Path) -> StoredState:
    """Read a checkpoint in one of CONTRACT.md's default layouts, or any that the scan opens.

    Raises:
        ReplayError: It holds no weights that can be read.
    """
    if path.is_file() and path.suffix != ".safetensors":
        content = _load(path)
        if content is not None:
            return _from_content(content, path)
    return _from_folder(path)


def _from_content(content: Mapping[str, Any], path: Path) -> StoredState:
    weights = next((content[k] for k in _MODEL_KEYS if _is_state(content.get(k))), None)
    if weights is None and _is_state(content):
        weights = content
    if weights is None:
        return _from_folder(path)
    optimizer = next((content[k] for k in _OPTIMIZER_KEYS if k in content), None)
    if isinstance(optimizer, list | tuple):
        optimizer = optimizer[0] if len(optimizer) == 1 else None
    return StoredState(
        weights={str(k): v for k, v in weights.items() if isinstance(v, torch.Tensor)},
        optimizer=optimizer if _is_optimizer(optimizer) else None,
        scaler=_first_mapping(content, "scaler", "grad_scaler", "scaler_state_dict"),
        rng=_generator(content),
    )


def _from_folder(path: Path) -> StoredState:
    """Weights through the torch-free openers; the optimizer where it lies in ``optimizer.pt``."""
    try:
        opened = open_checkpoint(path)
    except UnreadableFile as error:
        raise ReplayError(f"{path}: it cannot be replayed from: {error}") from error
    kept = [t for t in opened.tensors if t.role in (Role.PARAM, Role.BUFFER)]
    if not kept:
        raise ReplayError(f"{path}: it holds no weights to replay from")
    folder = path if path.is_dir() else path.parent
    optimizer = _load(folder / "optimizer.pt") if (folder / "optimizer.pt").is_file() else None
    states = folder / "rng_state.pth"
    rng = _load(states) if states.is_file() else None
    scaler = folder / "scaler.pt"
    return StoredState(
        weights=read_tensors(kept),
        optimizer=optimizer if _is_optimizer(optimizer) else None,
        scaler=_load(scaler) if scaler.is_file() else None,
        rng=_generator(rng or {}),
    )


def _is_state(value: Any) -> bool:
    """A mapping of names to tensors, most of all; a state dict may hold a few other things."""
    if not isinstance(value, Mapping) or not value:
        return False
    tensors = sum(isinstance(v, torch.Tensor) for v in value.values())
    return 2 * tensors > len(value)


def _is_optimizer(value: Any) -> bool:
    return isinstance(value, Mapping) and "param_groups" in value and "state" in value


def _first_mapping(content: Mapping[str, Any], *keys: str) -> Mapping[str, Any] | None:
    return next((content[k] for k in keys if isinstance(content.get(k), Mapping)), None)


def _generator(content: Mapping[str, Any]) -> torch.Tensor | None:
    """The CPU generator's state, under one of the names that frameworks use."""
    for key in ("cpu", "torch_rng_state", "rng_state", "cpu_rng_state", "torch_rng"):
        value = content.get(key)
        if isinstance(value, torch.Tensor) and value.dtype == torch.uint8 and value.numel() > 1000:
            return value
    return None


def _load(path: Path) -> Any:
    """A torch file's content, or None where it is not one."""
    for arguments in (
        {"weights_only": True, "mmap": True},
        {"weights_only": True},
        {"weights_only": False, "pickle_module": _INERT},
    ):
        try:
            return torch.load(path, map_location="cpu", **arguments)
        except Exception:  # torch raises a dozen kinds on a damaged file
            continue
    return None


class _InertUnpickler(pickle.Unpickler):
    """Builds tensors and plain containers; every other class becomes an `Inert`."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "collections" and name == "OrderedDict":
            return OrderedDict  # a plain dict cannot take the attributes of a state dict
        if module in _TENSOR_GLOBALS and name in _REBUILDERS:
            return super().find_class(module, name)
        if module in _TENSOR_GLOBALS and isinstance(getattr(torch, name, None), torch.dtype):
            return getattr(torch, name)
        return _stand_in(f"{module}.{name}")


def _stand_in(full_name: str) -> type:
    class StandIn(Inert):
        def __init__(self, *args: Any) -> None:
            super().__init__(full_name, args)

        def __setstate__(self, state: Any) -> None:
            self.state = state

        def __setitem__(self, key: Any, value: Any) -> None:
            self.items[key] = value

        def append(self, element: Any) -> None:
            self.elements.append(element)

    return StandIn


_INERT = SimpleNamespace(
    Unpickler=_InertUnpickler, load=pickle.load, __name__="forensics_inert_pickle"
)
