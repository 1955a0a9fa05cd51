"""Captured batches as torch tensors, by step."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.replay.errors import ReplayError

if TYPE_CHECKING:
    import torch

Batch = dict[str, "torch.Tensor"]

_FILE = re.compile(r"(?:^|.*/)step_(\d+)\.(?:safetensors|pt)")
_MICRO = re.compile(r"micro_(\d+)\.(.+)")
"""Micro-batches of different shapes lie side by side in one file."""


class CapturedBatches:
    """The batches that a run saved."""

    def __init__(self, run_dir: Path, paths: Sequence[str]) -> None:
        """Find them by name; nothing is read yet.

        Args:
            run_dir: The run.
            paths: Relative to it; of the same step on several ranks the first counts.
        """
        self._files: dict[int, Path] = {}
        for path in paths:
            found = _FILE.fullmatch(path)
            if found:
                self._files.setdefault(int(found[1]), run_dir / path)

    @property
    def steps(self) -> tuple[int, ...]:
        """In ascending order."""
        return tuple(sorted(self._files))

    def load(self, step: int) -> Batch | list[Batch]:
        """The tensors of a step by name, or one such mapping for each of its micro-batches.

        Raises:
            ReplayError: It was not captured, or its file cannot be read.
        """
        if step not in self._files:
            there = ", ".join(f"{s:,}" for s in self._nearest(step)) or "none"
            raise ReplayError(f"the batch of step {step:,} was not captured; there are: {there}")
        tensors = _read(self._files[step])
        parts: dict[int, Batch] = {}
        for name, tensor in tensors.items():
            found = _MICRO.fullmatch(name)
            number, own = (int(found[1]), found[2]) if found else (0, name)
            parts.setdefault(number, {})[own] = tensor
        return [parts[n] for n in sorted(parts)] if len(parts) > 1 else parts[min(parts)]

    def _nearest(self, step: int, most: int = 12) -> list[int]:
        return sorted(sorted(self._files, key=lambda other: abs(other - step))[:most])


def _read(path: Path) -> Batch:
    import torch

    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            content: Any = load_file(path)
        else:
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file is met with a dozen kinds
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ReplayError(f"{path}: the batch could not be read ({said})") from error
    if not isinstance(content, Mapping):
        raise ReplayError(f"{path}: holds no tensors by name")
    found = {str(k): v for k, v in content.items() if isinstance(v, torch.Tensor)}
    if not found:
        raise ReplayError(f"{path}: holds no tensors by name")
    return found
