"""Is it the batch, the state, or the two together?

The suspect batch and its neighbours, forward and backward, at the checkpoint before the onset and
at a much earlier one. Bad at both: the data. Bad at the later one only: the data met weights in a
fragile state. Never bad: not the data.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from forensics.replay.errors import NotDone
from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.measures import controls_of, measure, robust_z, update_ratio
from forensics.replay.session import Session
from forensics.replay_facts import BatchMeasure, Comparison, Role

MOST_SEARCHED = 64
"""Batches looked through for the suspect where the log has gaps."""
LEAST_SEARCHED = 3
"""Batches between which one can stand out."""
STANDS_OUT = 4.0
"""Robust standard deviations from which a batch of a gap is taken for the suspect."""
LOSS_FLOOR, NORM_FLOOR = 0.02, 0.1
"""Spread taken as the least: 2 % of the loss, a tenth in the logarithm of the norm."""


def _run(session: Session) -> Iterator[Fields]:
    if session.suspect is None:
        raise NotDone("nothing went wrong at a step whose batch could be suspect")
    session.begin()
    session.suspect = _found_in_gap(session, session.suspect)
    controls = controls_of(session, session.suspect)
    role = Role.BEFORE if session.start is not None else Role.INITIAL
    done = [_compared(session, role, session.start_path, session.start_step, controls)]
    yield {"comparisons": tuple(done), "suspect_step": session.suspect}
    done[0] = replace(done[0], suspect=_with_update(session, done[0].suspect))
    yield {"comparisons": tuple(done)}
    earlier = session.plan.earlier
    if earlier is None:
        raise NotDone("at a much earlier checkpoint: there is none")
    with session.weights_of(earlier):
        done.append(_compared(session, Role.EARLIER, earlier.path, earlier.step, controls))
    yield {"comparisons": tuple(done)}


def _compared(
    session: Session, role: Role, path: str, step: int | None, controls: Sequence[int]
) -> Comparison:
    if session.suspect is None:
        raise NotDone("there is no suspect")
    suspect = measure(session, session.suspect, samples=True)
    others = []
    for control in controls:
        session.check_time()
        others.append(measure(session, control))
    usual = sorted(c.loss for c in others if math.isfinite(c.loss))
    level = abs(usual[len(usual) // 2]) if usual else 0.0
    return Comparison(
        role=role,
        checkpoint=path,
        step=step,
        suspect=suspect,
        controls=tuple(others),
        loss_z=robust_z(suspect.loss, [c.loss for c in others], LOSS_FLOOR * level),
        grad_z=robust_z(_log(suspect.grad_norm), [_log(c.grad_norm) for c in others], NORM_FLOOR),
    )


def _with_update(session: Session, suspect: BatchMeasure) -> BatchMeasure:
    return replace(suspect, update_ratio=update_ratio(session, suspect.step))


def _found_in_gap(session: Session, suspect: int) -> int:
    """Between two logged points the suspect is the batch with the worst loss, if one stands out."""
    searched = _searched(session, suspect)
    if len(searched) < LEAST_SEARCHED:
        return suspect
    losses = {}
    for step in searched:
        session.check_time()
        losses[step] = measure(session, step).loss
    worst = max(losses, key=lambda s: (not math.isfinite(losses[s]), losses[s]))
    rest = [v for s, v in losses.items() if s != worst]
    level = sorted(map(abs, rest))[len(rest) // 2]
    stands_out = robust_z(losses[worst], rest, LOSS_FLOOR * level) >= STANDS_OUT
    return worst if stands_out else suspect


def _searched(session: Session, suspect: int) -> Sequence[int]:
    """Steps whose batch may have done it; the last good one's update shows in the next loss."""
    first = suspect - 1 if session.plan.search_from is None else session.plan.search_from - 1
    steps = session.spec.steps
    if steps is not None:
        return [step for step in steps if step <= suspect][-MOST_SEARCHED:]
    start = max(first, session.next_step, suspect - MOST_SEARCHED + 1)
    return range(start, suspect + 1) if suspect - start > 1 else ()


def _log(norm: float) -> float:
    return math.log(max(norm, 1e-30)) if math.isfinite(norm) else norm


EXPERIMENT = Experiment("suspect against control batches", 20, _run)
