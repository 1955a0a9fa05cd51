"""One step as the ring holds it."""

from dataclasses import dataclass, field
from typing import Any

import torch

from forensics.recorder._gradients import GradientNorms
from forensics.recorder._naming import Tensors


@dataclass(eq=False)
class Kept:
    """The batch of a step and what was measured with it; grows with each micro-batch."""

    step: int
    random: dict[str, Any]
    """States of the generators before its forward pass."""
    parts: list[Tensors] = field(default_factory=list)
    """One per micro-batch."""
    left_out: list[str] = field(default_factory=list)
    losses: list[float | None] = field(default_factory=list)
    """One per micro-batch; None where none was given."""
    norm: float | None = None
    """Of the whole gradient before clipping."""
    norms: GradientNorms | None = None
    left: list[str] = field(default_factory=list)
    """What left its band."""
    saved: bool = False
    """As a suspect; micro-batches that follow are then saved with it."""

    @property
    def nbytes(self) -> int:
        """Bytes that its tensors take."""
        return sum(tensor.nbytes for part in self.parts for tensor in part.values())


def measure(loss: Any, norm: Any, norms: GradientNorms | None) -> tuple[float | None, float | None]:
    """Loss and gradient norm as numbers, with one wait for the device at most."""
    if norm is None and norms is not None:
        norm = norms.total
    given = [_scalar(value) for value in (loss, norm) if value is not None]
    device = next((v.device for v in given if v.device.type != "cpu"), torch.device("cpu"))
    values = iter(torch.stack([v.to(device) for v in given]).tolist() if given else ())
    return None if loss is None else next(values), None if norm is None else next(values)


def _scalar(value: Any) -> torch.Tensor:
    tensor = torch.as_tensor(value).detach()
    return tensor.mean(dtype=torch.float32) if tensor.ndim else tensor.float()
