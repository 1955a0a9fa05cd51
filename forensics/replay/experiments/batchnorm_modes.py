"""Do the running statistics of BatchNorm fit the data?

The same batch in training and in evaluation mode, and in evaluation mode once more with the
statistics taken anew over control batches.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import nn

from forensics.replay.errors import NotDone
from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.measures import controls_of, has_batch_norm
from forensics.replay.session import Session
from forensics.replay_facts import ModeCheck

RENEWED_OVER = 32
"""Batches the statistics are taken anew over."""


def _run(session: Session) -> Iterator[Fields]:
    if not has_batch_norm(session.model):
        raise NotDone("the model has no BatchNorm")
    # Statistics that went wrong show in a model that was trained, not in a fresh one.
    trained = session.start or session.plan.usable
    session.begin()
    with nullcontext() if trained is None else session.weights_of(trained), torch.no_grad():
        found = _compared(session, session.probe_step)
    session.begin()
    yield {"modes": found}


def _compared(session: Session, step: int) -> ModeCheck:
    batch = session.batches.load(step)
    session.model.eval()
    evaluated = float(session.loss_of(batch))
    session.model.train()  # from here on the running statistics change
    with _sizes_seen(session.model) as sizes:
        train = float(session.loss_of(batch))
    with _from_scratch(session.model):
        for control in controls_of(session, step, RENEWED_OVER):
            session.loss_of(session.batches.load(control))
    session.model.eval()
    renewed = float(session.loss_of(batch))
    return ModeCheck(step, train, evaluated, renewed, min(sizes, default=None))


@contextmanager
def _sizes_seen(model: nn.Module) -> Iterator[set[int]]:
    """Samples that the layers normalise over: a loss may cut its batch into pieces."""
    sizes: set[int] = set()

    def note(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        sizes.add(inputs[0].shape[0])

    kind = nn.modules.batchnorm._BatchNorm  # the one common base there is
    hooks = [m.register_forward_pre_hook(note) for m in model.modules() if isinstance(m, kind)]
    try:
        yield sizes
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def _from_scratch(model: nn.Module) -> Iterator[None]:
    """Running statistics reset, then gathered as plain means over whatever runs inside."""
    kind = nn.modules.batchnorm._BatchNorm  # the one common base there is
    layers = [m for m in model.modules() if isinstance(m, kind) and m.track_running_stats]
    usual = [layer.momentum for layer in layers]
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    model.train()
    try:
        yield
    finally:
        for layer, momentum in zip(layers, usual, strict=True):
            layer.momentum = momentum


EXPERIMENT = Experiment("BatchNorm in both modes", 23, _run)
