"""Which operation made it non-finite, in the run's precision and in float32?

The step before which the state was still finite is run once more, operation by operation.
"""

from collections.abc import Iterator

from forensics.replay.errors import NotDone
from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.first_non_finite import find_first_non_finite
from forensics.replay.knobs import AS_RUN, Knobs
from forensics.replay.session import Session
from forensics.replay.stretch import window
from forensics.replay_facts import NonFiniteSearch


def _run(session: Session) -> Iterator[Fields]:
    trajectory = session.as_run
    step = trajectory.first_non_finite if trajectory is not None else None
    if step is None:
        raise NotDone("nothing non-finite came in the replayed stretch")
    searches = [_searched(session, step, AS_RUN)]
    yield {"searches": tuple(searches)}
    if session.plan.settings.precision in ("fp16", "bf16"):
        searches.append(_searched(session, step, Knobs(precision="fp32")))
        yield {"searches": tuple(searches)}


def _searched(session: Session, step: int, knobs: Knobs) -> NonFiniteSearch:
    """Train up to the step, then watch it; in float32 at the very same weights."""
    session.begin()
    for since, before in enumerate(s for s in window(session) if s < step):
        session.train_step(before, since=since)
    batch = session.batches.load(step)
    return find_first_non_finite(
        session.model,
        lambda: session.loss_of(batch, knobs),
        step=step,
        precision=knobs.precision or session.plan.settings.precision,
        batch=batch,
        loss_scale=(session.scale or 1.0) if knobs.precision is None else 1.0,
    )


EXPERIMENT = Experiment("first non-finite operation", 32, _run)
