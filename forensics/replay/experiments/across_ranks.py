"""Do the ranks train together? Only under ``torchrun``, on as many processes as it starts.

One batch per rank, forward and backward: each rank alone, the gradients averaged, summed, and as
the wrapped model reduces them when the user's own loss runs through it. A loss that goes round the
wrapper leaves every rank with its own gradient.
"""

import math
from collections.abc import Iterator, Sequence

import torch

from forensics.replay import ranks
from forensics.replay.errors import NotDone
from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.session import Session
from forensics.replay_facts import Ranks


def _run(session: Session) -> Iterator[Fields]:
    world = ranks.world_size()
    if world == 1:
        raise NotDone(
            "it ran on one process (torchrun --nproc-per-node N -m forensics replay ... for more)"
        )
    session.begin()
    batch = session.batches.load(session.next_step)
    with session.unsynchronised():
        loss = session.backward(batch).own_loss
        alone = [p.grad for p in session.model.parameters() if p.grad is not None]
    sums = ranks.summed(alone)
    own = _norm(alone)
    together = _norm(sums)
    session.begin()
    reduced = session.backward(batch)
    session.begin()
    session.train_step(session.next_step)
    weights = ranks.gathered(_norm([p.detach() for p in session.model.parameters()]))
    session.begin()
    norm = session.plan.norm
    yield {
        "ranks": Ranks(
            world=world,
            wrapper=ranks.WRAPPER,
            losses=ranks.gathered(loss),
            mean_norm=together / world,
            sum_norm=together,
            alone_norm=ranks.of_first_rank(own),
            reduced_norm=reduced.grad_norm,
            logged_norm=norm.at(session.next_step) if norm is not None else None,
            weights_agree=max(weights) - min(weights) <= 1e-6 * max(weights),
        )
    }


def _norm(tensors: Sequence[torch.Tensor]) -> float:
    return math.sqrt(sum(float(t.double().norm()) ** 2 for t in tensors))


EXPERIMENT = Experiment("across ranks", 27, _run)
