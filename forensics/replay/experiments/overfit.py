"""Can the model learn at all? One batch, trained alone with the run's own settings.

A loss that does not fall on a single batch points at the optimizer, the gradient or the labels'
shape; the control, the same batch with its labels permuted, shows what memorising costs.
"""

from collections.abc import Iterator
from typing import Any

from forensics.replay.errors import NotDone
from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.labels import permuted, with_labels
from forensics.replay.session import Session
from forensics.replay_facts import Overfit

STEPS = 40


def _run(session: Session) -> Iterator[Fields]:
    step = session.probe_step
    batch = session.batches.load(step)
    found = Overfit(step, _alone(session, batch, step), None)
    yield {"overfit": found}
    mixed = with_labels(batch, permuted)
    if mixed is not None:
        yield {"overfit": Overfit(step, found.losses, _alone(session, mixed, step))}


def _alone(session: Session, batch: Any, step: int) -> tuple[float, ...]:
    session.begin()
    losses = []
    for since in range(STEPS):
        try:
            losses.append(session.train_on(batch, step, since=since).loss)
        except NotDone:
            break
    session.begin()
    if not losses:
        session.check_time()
    return tuple(losses)


EXPERIMENT = Experiment("overfitting a single batch", 50, _run)
