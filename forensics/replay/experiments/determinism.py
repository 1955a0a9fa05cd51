"""Does the same step give the same numbers? A rate, not a yes.

Losses that differ for the same weights, batch and seed come from kernels without a fixed order or
from hardware; those that differ with the seed alone come from dropout and the like.
"""

from collections.abc import Iterator

from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.session import Session
from forensics.replay_facts import Determinism

REPEATS = 3
OTHER_SEEDS = (1, 2)


def _run(session: Session) -> Iterator[Fields]:
    step = session.probe_step
    same, other = [], []
    for _ in range(REPEATS):
        session.begin()
        same.append(session.train_step(step))
    for seed in OTHER_SEEDS:
        session.begin(seed=seed)
        other.append(session.train_step(step).loss)
    session.begin()
    yield {
        "determinism": Determinism(
            step=step,
            losses=tuple(r.loss for r in same),
            grad_norms=tuple(r.grad_norm for r in same),
            reseeded_losses=tuple(other),
        )
    }


EXPERIMENT = Experiment("determinism", 22, _run)
