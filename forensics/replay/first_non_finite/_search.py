"""One step, watched operation by operation."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor, nn

from forensics.replay.first_non_finite._given import note_given
from forensics.replay.first_non_finite._numbers import has_nan, is_bad
from forensics.replay.first_non_finite._origins import Ledger, Origin
from forensics.replay.first_non_finite._places import Places
from forensics.replay.first_non_finite._watch import Watch
from forensics.replay_facts import NonFiniteOperation, NonFiniteSearch, Phase


def find_first_non_finite(
    model: nn.Module,
    loss_of: Callable[[], Tensor],
    *,
    step: int,
    precision: str,
    batch: object = None,
    loss_scale: float = 1.0,
) -> NonFiniteSearch:
    """Run one forward and backward pass and find what first made a value that is not finite.

    Gradients and buffers of the model are afterwards as they were, and nothing is updated; random
    generators move on. Compiled modules run uncompiled.

    Args:
        model: The model, for the paths of its modules and the names of its parameters.
        loss_of: Computes the scalar loss of the step, under autocast where the run used it.
        step: The step, in the run's own numbering.
        precision: What the run, or the caller's autocast, computes in; for the result only.
        batch: The step's batch as ``loss_of`` uses it; a non-finite tensor in it is named.
        loss_scale: What the loss is multiplied by before the backward pass (fp16).

    Returns:
        None as ``found`` where the loss and every gradient of a parameter are finite. Where
        ``loss_of`` raises because of a non-finite value, what made that value.

    Raises:
        Exception: What ``loss_of`` or the backward pass raises for any other reason.
    """
    ledger = Ledger()
    note_given(ledger, model, batch, step, precision)
    places = Places(model, stop=__file__)
    watch = Watch(places, ledger, step=step, precision=precision, loss_scale=loss_scale)
    with _as_it_was(model), _uncompiled(), torch.enable_grad():
        try:
            with places.watching():
                reached = _reached(model, loss_of, watch, loss_scale)
        except (ArithmeticError, AssertionError, RuntimeError, ValueError) as error:
            origin = watch.latest
            if isinstance(error, torch.OutOfMemoryError) or not origin or origin.fault is None:
                raise
            return NonFiniteSearch(step, precision, ledger.candidate(origin))
    found = _decide(ledger, reached, step, precision) if reached else None
    return NonFiniteSearch(step, precision, found)


def _reached(
    model: nn.Module, loss_of: Callable[[], Tensor], watch: Watch, loss_scale: float
) -> list[tuple[str, Tensor]]:
    """The non-finite values that count: the loss, or else the gradients, by name."""
    with watch:
        loss = loss_of()
    if is_bad(loss):
        return [("the loss", loss)]
    if not loss.requires_grad:
        return []
    with watch:
        scaled = loss if loss_scale == 1 else loss.float() * loss_scale
        scaled.backward()  # type: ignore[no-untyped-call]
    gradients = ((name, p.grad) for name, p in model.named_parameters())
    return [(f"the gradient of {n}", g) for n, g in gradients if g is not None and is_bad(g)]


def _decide(
    ledger: Ledger, reached: list[tuple[str, Tensor]], step: int, precision: str
) -> NonFiniteOperation:
    origins = [o for o in (ledger.origin(tensor) for _, tensor in reached) if o is not None]
    # A wrapper around tensors may hide whose value arrived; something made it all the same.
    known = Origin().joined(origins) if origins else ledger.earliest_fault()
    found = ledger.candidate(known) if known else None
    if found is not None:
        return found
    name, tensor = reached[0]
    return NonFiniteOperation(
        step=step,
        precision=precision,
        phase=Phase.LOSS if name == "the loss" else Phase.BACKWARD,
        operation="unknown",
        module="",
        kind="nan" if has_nan(tensor) else "inf",
        inputs=(),
        culprit=f"{name} is not finite, and no operation of torch that could be watched made it so",
    )


@contextmanager
def _as_it_was(model: nn.Module) -> Iterator[None]:
    """Take the gradients away for a while; put them and the buffers back."""
    gradients = [(p, p.grad) for p in model.parameters()]
    buffers = [(b, b.detach().clone()) for b in model.buffers()]
    for parameter, _ in gradients:
        parameter.grad = None
    try:
        yield
    finally:
        for parameter, gradient in gradients:
            parameter.grad = gradient
        with torch.no_grad():
            deque((buffer.copy_(saved) for buffer, saved in buffers), maxlen=0)


def _uncompiled() -> AbstractContextManager[object]:
    """Let compiled functions run as written; nothing is compiled where dynamo was never loaded."""
    set_stance = getattr(torch.compiler, "set_stance", None)
    if set_stance is None or "torch._dynamo" not in sys.modules:
        return nullcontext()  # before torch 2.6 a dispatch mode alone keeps dynamo out
    stance: AbstractContextManager[object] = set_stance("force_eager")
    return stance
