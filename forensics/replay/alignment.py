"""Which step comes first after a checkpoint: frameworks disagree, the logged losses decide."""

import math

from forensics.replay.errors import NotDone
from forensics.replay.session import Session

MOST_STEPS = 16
"""Steps replayed at most to reach a logged one."""
CLEARLY = 0.2
"""A candidate is taken where its distance is below this share of the other's."""


def align(session: Session) -> None:
    """Find the first step to replay, and from which logged point its rate comes."""
    session.next_step, session.alignment = _found(session)
    session.rates = session.rates.aligned(session.next_step)
    session.begin()


def _found(session: Session) -> tuple[int, str]:
    start, first = session.start, session.spec.first_step
    if start is None or start.step is None:
        begin = first if first is not None else _first_logged(session)
        return begin, "training is replayed from its first step"
    if first is not None:
        done = session.updates if session.updates is not None else start.step
        return (
            first + done,
            f"FIRST_STEP is {first}, and {done} steps were done before {start.path}",
        )
    candidates = (start.step + 1, start.step)
    distance = {step: _distance(session, step) for step in candidates}
    best, other = sorted(candidates, key=lambda step: distance[step])
    comparable = all(map(math.isfinite, distance.values()))
    if comparable and distance[best] <= CLEARLY * distance[other]:
        return best, (
            f"replayed from {start.path}, step {best} comes within {distance[best]:.2g} of its "
            f"logged loss; counted from {other} it is {distance[other]:.2g} off"
        )
    return start.step + 1, (
        f"{start.path} is taken to hold the weights after step {start.step}: the logged losses "
        "do not tell (FIRST_STEP in the replay file would)"
    )


def _first_logged(session: Session) -> int:
    """Runs that log every step begin with the first; the others count from one, mostly."""
    steps = session.plan.loss.steps
    if not steps:
        return 1
    return steps[0] if steps[0] <= 1 or session.plan.loss.interval == 1 else 1


def _distance(session: Session, first: int) -> float:
    """Relative distance of the replayed from the logged loss at the first logged steps."""
    logged = [s for s in session.plan.loss.steps if first <= s < first + MOST_STEPS][:3]
    if not logged:
        return math.inf
    session.begin()
    gaps = []
    try:
        for since, step in enumerate(range(first, logged[-1] + 1)):
            result = session.train_step(step, since=since)
            target = session.plan.loss.at(step)
            if target is not None and math.isfinite(target) and math.isfinite(result.loss):
                gaps.append(abs(result.loss - target) / max(abs(target), 1e-12))
    except NotDone:
        return math.inf
    return sum(gaps) / len(gaps) if gaps else math.inf
