"""One batch measured at the weights at hand: loss, gradient norms, size of the update."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from forensics.medians import MAD_TO_SD, deviation
from forensics.replay.batch_store import tensors_in
from forensics.replay.errors import ReplayError
from forensics.replay.plan import CONTROLS
from forensics.replay.session import Session
from forensics.replay_facts import BatchMeasure

MOST_SAMPLES = 64
"""Samples up to which each one's loss is computed by itself."""
_BLOCK = re.compile(r"^(.*?\.\d+)(?:\.|$)")


def measure(session: Session, step: int, *, samples: bool = False) -> BatchMeasure:
    """Forward and backward on the batch of a step; the weights are put back.

    Args:
        session: At the weights to measure at.
        step: Whose batch.
        samples: Also weigh the samples against each other.
    """
    batch = session.batches.load(step)
    result = session.backward(batch)
    return BatchMeasure(
        step=step,
        loss=result.loss,
        grad_norm=result.grad_norm,
        group_norms=group_norms(session.model),
        update_ratio=math.nan,
        worst_share=_worst_share(session, batch) if samples else None,
    )


def group_norms(model: torch.nn.Module) -> dict[str, float]:
    """L2 norm of the gradient of each block of the model, in its order."""
    squares: dict[str, float] = {}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            group = block_of(name)
            squares[group] = squares.get(group, 0.0) + float(parameter.grad.float().norm()) ** 2
    return {group: math.sqrt(total) for group, total in squares.items()}


def block_of(name: str) -> str:
    """``layers.3.mlp.weight`` -> ``layers.3``; ``head.weight`` -> ``head``."""
    numbered = _BLOCK.match(name)
    return numbered[1] if numbered else name.rpartition(".")[0] or name


def update_ratio(session: Session, step: int) -> float:
    """Norm of the update that this step's batch makes, over the norm of the weights."""
    session.begin()
    before = [p.detach().clone() for p in session.model.parameters()]
    session.train_step(step)
    pairs = zip(before, session.model.parameters(), strict=True)
    moved = math.sqrt(sum(float((b.float() - p.detach().float()).norm()) ** 2 for b, p in pairs))
    size = math.sqrt(sum(float(b.float().norm()) ** 2 for b in before))
    session.begin()
    return moved / size if size else math.nan


def controls_of(session: Session, suspect: int, most: int = CONTROLS) -> tuple[int, ...]:
    """Steps of other batches: the last ones before the suspect, else the first ones after it."""
    first = min(session.next_step, suspect)
    known = session.spec.steps
    if known is not None:
        others = sorted((s for s in known if s != suspect), key=lambda s: (abs(s - suspect), s))
        return tuple(sorted(others[:most]))
    before = range(max(first, suspect - most), suspect)
    after = range(suspect + 1, suspect + 1 + most)
    return tuple([*before, *after][:most] if len(before) < most else before)


def robust_z(value: float, others: Sequence[float], floor: float) -> float:
    """Robust standard deviations by which a value is above others.

    Args:
        value: The suspect's.
        others: The controls'.
        floor: Smallest standard deviation, in the unit of the values.
    """
    finite = np.asarray([o for o in others if math.isfinite(o)])
    if not math.isfinite(value):
        return math.inf if len(finite) else math.nan
    if not len(finite):
        return math.nan
    middle = float(np.median(finite))
    spread = max(MAD_TO_SD * deviation(finite), floor, 1e-12)
    return (value - middle) / spread


def batch_size(batch: Any) -> int | None:
    """Length of the first axis that all of its tensors share; None where they share none."""
    lengths = {t.shape[0] for t in tensors_in(batch).values() if t.dim() > 0}
    return lengths.pop() if len(lengths) == 1 else None


def one_sample(batch: Any, index: int) -> Any:
    """The batch with one sample only."""
    if isinstance(batch, torch.Tensor):
        return batch[index : index + 1] if batch.dim() else batch
    if isinstance(batch, Mapping):
        return {key: one_sample(value, index) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        parts = [one_sample(value, index) for value in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


def _worst_share(session: Session, batch: Any) -> float | None:
    """Share of the summed loss that the worst tenth of the samples carries."""
    size = batch_size(batch)
    if size is None or not 2 <= size <= MOST_SAMPLES or has_batch_norm(session.model):
        return None
    try:
        with torch.no_grad():
            losses = [float(session.loss_of(one_sample(batch, i))) for i in range(size)]
    except (ReplayError, RuntimeError):
        return None
    total = sum(losses)
    worst = sorted(losses, reverse=True)[: max(1, size // 10)]
    return sum(worst) / total if math.isfinite(total) and total > 0 else None


def has_batch_norm(model: torch.nn.Module) -> bool:
    """True where a layer normalises over the batch."""
    kind = torch.nn.modules.batchnorm._BatchNorm  # the one common base there is
    return any(isinstance(m, kind) for m in model.modules())
