"""The folder of saved batches: whole files or none, and no more than was allowed."""

import json
import math
import os
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save

from forensics.recorder._kept import Kept
from forensics.recorder._naming import Tensors, joined
from forensics.recorder._randomness import spelled_out


class Folder:
    """Where one process saves batches."""

    def __init__(self, run_dir: Path, max_bytes: int) -> None:
        self._run_dir, self._max_bytes = run_dir.absolute(), max_bytes
        self._own: set[Path] = set()

    def save(self, kept: Kept) -> str:
        """Write a step, unless another process has written it before.

        Returns:
            Why it was not written, or ''.

        Raises:
            OSError: The folder cannot be written to.
        """
        folder = self._run_dir / _rank_folder() / "batches"
        target = folder / f"step_{kept.step}.safetensors"
        tensors = joined(kept.parts)
        if not tensors:
            return f"the batch of step {kept.step} holds no tensors"
        if target.exists() and target not in self._own:
            return ""  # of an earlier attempt: evidence is never written over
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            torch.cuda.synchronize()  # copies of this batch may be under way
        data = save(tensors, {"step": str(kept.step)})
        told = json.dumps(_sidecar(kept), indent=1, allow_nan=False).encode()
        folder.mkdir(parents=True, exist_ok=True)
        if _size(folder) + len(data) + len(told) > self._max_bytes:
            return f"{folder}: no room within {self._max_bytes:,} bytes for step {kept.step}"
        _write(target, data)
        self._own.add(target)
        _write(target.with_suffix(".json"), told)
        return ""


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def _write(path: Path, data: bytes) -> None:
    """All of the file or nothing, however the process ends."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _rank_folder() -> str:
    """``rank_<K>`` where there are several processes, '' where there is one."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        rank, world = distributed.get_rank(), distributed.get_world_size()
    else:
        rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    return f"rank_{rank}" if world > 1 else ""


def _sidecar(kept: Kept) -> dict[str, Any]:
    """Rows and losses of the micro-batches as text: readers of logs take lists for a series."""
    norms = kept.norms.by_name() if kept.norms is not None else {}
    return {
        "recorded_step": kept.step,
        "left_its_band": kept.left,
        "rows": " ".join(str(_rows(part)) for part in kept.parts),
        "losses": " ".join(str(_number(loss)) for loss in kept.losses),
        "gradient_norm": _number(kept.norm),
        "gradient_norms": {name: _number(norm) for name, norm in norms.items()},
        "random_states": spelled_out(kept.random),
        "left_out": kept.left_out,
    }


def _rows(part: Tensors) -> int:
    return next((len(tensor) for tensor in part.values() if tensor.ndim), 0)


def _number(value: float | None) -> float | str | None:
    """Strict JSON has no non-finite numbers."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
