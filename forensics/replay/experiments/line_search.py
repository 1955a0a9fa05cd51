"""How far along the optimizer's own update does the loss still fall?

A handful of forward passes along the direction of one step. An update that raises the loss of its
own batch at the run's rate is too long: the rate is above the critical one (arXiv 2601.16979).
"""

import math
from collections.abc import Iterator

import torch

from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.session import Session
from forensics.replay_facts import LineSearch

MULTIPLES = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


def _run(session: Session) -> Iterator[Fields]:
    step = session.probe_step
    batch = session.batches.load(step)
    session.begin()
    parameters = list(session.model.parameters())
    start = [p.detach().clone() for p in parameters]
    session.train_step(step)
    way = [p.detach() - s for p, s in zip(parameters, start, strict=True)]
    losses = []
    with torch.no_grad():
        for multiple in MULTIPLES:
            session.check_time()
            for parameter, origin, direction in zip(parameters, start, way, strict=True):
                parameter.copy_(origin + multiple * direction)
            losses.append(float(session.loss_of(batch)))
    session.begin()
    yield {"line": LineSearch(step, MULTIPLES, tuple(losses), _critical(losses))}


def _critical(losses: list[float]) -> float:
    """The multiple at which the loss is back at where it began, between the points on a line."""
    origin = losses[0]
    above = [i for i in range(1, len(losses)) if not losses[i] <= origin]
    if not above:
        return math.inf
    first = above[0]
    left, right = MULTIPLES[first - 1], MULTIPLES[first]
    fall, rise = origin - losses[first - 1], losses[first] - origin
    if not math.isfinite(rise) or fall + rise <= 0:
        return left
    return left + (right - left) * fall / (fall + rise)


EXPERIMENT = Experiment("line search along the update", 24, _run)
