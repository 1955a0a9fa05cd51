"""What a step starts from: parameters, buffers and batch, noted where they are not finite."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from torch import Tensor, nn

from forensics.replay.first_non_finite._modules import plain_path
from forensics.replay.first_non_finite._numbers import (
    all_finite,
    bad_share,
    describe,
    has_nan,
    mask_like,
    numbers,
)
from forensics.replay.first_non_finite._origins import Ledger
from forensics.replay_facts import NonFiniteOperation, Phase


def note_given(ledger: Ledger, model: nn.Module, batch: object, step: int, precision: str) -> None:
    """Note every tensor that is not finite before the step begins.

    Such a candidate has the operation ``input``, ``parameter`` or ``buffer``. A tensor that holds
    one finite value and infinities of one sign is a mask, and meant.
    """
    for name, tensor in _named_tensors(batch):
        _note(ledger, tensor, Phase.INPUT, "input", name, step, precision)
    for name, parameter in model.named_parameters():
        _note(ledger, parameter, Phase.FORWARD, "parameter", plain_path(name), step, precision)
    for name, buffer in model.named_buffers():
        _note(ledger, buffer, Phase.FORWARD, "buffer", plain_path(name), step, precision)


def _note(
    ledger: Ledger,
    tensor: Tensor,
    phase: Phase,
    operation: str,
    name: str,
    step: int,
    precision: str,
) -> None:
    values = numbers(tensor)
    if values is None or all_finite(values):
        return
    named = f"{operation} {name}" if name else operation
    candidate = NonFiniteOperation(
        step=step,
        precision=precision,
        phase=phase,
        operation=operation,
        module="" if phase is Phase.INPUT else name.rpartition(".")[0],
        kind="nan" if has_nan(tensor) else "inf",
        inputs=(describe(tensor),),
        culprit=f"{named} is not finite before the step: {bad_share(values)}",
    )
    ledger.mark(tensor, ledger.add(candidate, meant=mask_like(values)))


def _named_tensors(batch: object) -> Iterator[tuple[str, Tensor]]:
    """Every tensor in a batch of any structure, named by its path, each object once."""
    waiting, seen = [("", batch)], {id(batch)}
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Tensor):
            yield name, value
            continue
        parts = [(f"{name}.{key}" if name else key, part) for key, part in _parts(value)]
        fresh = [(key, part) for key, part in parts if id(part) not in seen]
        seen.update(id(part) for _, part in fresh)
        waiting.extend(reversed(fresh))


def _parts(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        yield from ((str(key), part) for key, part in value.items())
    elif is_dataclass(value) and not isinstance(value, type):
        yield from ((f.name, getattr(value, f.name, None)) for f in fields(value))
    elif isinstance(value, list | tuple):
        names = getattr(value, "_fields", None) or map(str, range(len(value)))
        yield from zip(names, value, strict=False)
    elif hasattr(value, "__dict__") and not isinstance(value, type | nn.Module):
        yield from vars(value).items()
