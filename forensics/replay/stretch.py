"""A stretch of training replayed, and how much of the failure it shows."""

import math
from collections.abc import Sequence

import numpy as np

from forensics.replay.errors import NotDone
from forensics.replay.knobs import AS_RUN, Knobs
from forensics.replay.plan import TAIL, Failure, ReplayPlan
from forensics.replay.session import Session
from forensics.replay_facts import Trajectory

LONGEST = 4000
"""Steps of one stretch at most."""
SHORTEST_STALL = 200
"""Steps after which a loss that does not move is called stalled, where the log is longer."""
REMOVED = 0.3
"""A change removes the failure where less than this share of the excess is left."""


def window(session: Session, ramp: int = 0) -> Sequence[int]:
    """The steps of a stretch: from the checkpoint through the onset and beyond.

    Where there are only some batches, those: they meet weights that are older than they were.

    Args:
        session: The session, aligned.
        ramp: Steps over which the rate rises: the stretch goes on after them, at the full rate.
    """
    plan, first = session.plan, session.next_step
    if plan.suspect_step is None:
        end = first + TAIL
    elif plan.failure is Failure.STALLS:
        end = first + SHORTEST_STALL
    else:
        end = plan.suspect_step + TAIL + 1
    if ramp:
        end = max(end, first + ramp + TAIL)
    end = min(end, plan.last_step + 1, first + LONGEST)
    if plan.suspect_step is not None and plan.suspect_step >= end:
        raise NotDone(
            f"the onset (step {plan.suspect_step}) lies more than {LONGEST} steps after step "
            f"{first}, the first that can be replayed"
        )
    if end <= first:
        raise NotDone(f"step {first}, the first to be replayed, is beyond the last one logged")
    if session.spec.steps is None:
        return range(first, end)
    there = [step for step in session.spec.steps if first <= step < end]
    if not there or (session.suspect is not None and session.suspect not in there):
        raise NotDone("the batch of the suspect step was not captured")
    return there


def replay(session: Session, steps: Sequence[int], knobs: Knobs = AS_RUN) -> Trajectory:
    """Train over ``steps`` from the checkpoint; ends early on a non-finite state.

    Args:
        session: The session; it is put back first.
        steps: The steps, from `window`.
        knobs: What to change.
    """
    session.begin(knobs)
    done: list[int] = []
    loss: list[float] = []
    norm: list[float] = []
    complete = True
    for since, step in enumerate(steps):
        if session.time_left() <= 0:
            complete = False
            break
        result = session.train_step(step, knobs, since)
        if step not in knobs.skip:
            done.append(step)
            loss.append(result.loss)
            norm.append(result.grad_norm)
        if result.updated and not math.isfinite(result.grad_norm) and _is_lost(loss):
            break
    if not done:
        raise NotDone(f"the budget of {session.plan.budget:g} s was spent (--budget)")
    return Trajectory(
        tuple(done), tuple(loss), tuple(norm), excess(session.plan, done, loss, norm), complete
    )


def _is_lost(loss: Sequence[float]) -> bool:
    """Three non-finite losses in a row: the weights are gone, and no step brings them back."""
    return len(loss) >= 3 and not any(math.isfinite(value) for value in loss[-3:])


def excess(
    plan: ReplayPlan, steps: Sequence[int], loss: Sequence[float], norm: Sequence[float]
) -> float:
    """How far above the level before the onset the failure is, in nats (`Trajectory.excess`)."""
    at, value = np.asarray(steps), np.asarray(loss, np.float64)
    norms = np.asarray(norm, np.float64)
    # A skipped step of a loss scaler has an infinite norm and does no harm.
    harmed = ~np.isfinite(value)
    if plan.settings.precision != "fp16" and norms.size == value.size:
        harmed = harmed | ~np.isfinite(norms)
    if plan.failure is Failure.STALLS:
        tail = value[-max(1, len(value) // 4) :]
        return math.inf if harmed.any() else float(np.median(tail))
    if harmed.any():
        return math.inf
    after = value[at >= plan.suspect_step] if plan.suspect_step is not None else value
    if not after.size:
        return math.nan
    if plan.failure in (Failure.STAYS, Failure.NON_FINITE):
        return float(np.median(after[len(after) // 2 :])) - plan.level
    return float(after.max()) - plan.level


def removes(plan: ReplayPlan, as_run: float, changed: float) -> bool:
    """True where the failure that shows as ``as_run`` does not show as ``changed``."""
    if not math.isfinite(changed):
        return False
    if plan.failure is Failure.STALLS:
        return changed < as_run - max(0.1 * abs(as_run), 6 * (plan.noise or 0.0))
    if math.isfinite(as_run):
        # Less of a failure may still be one: of 50 nats, 10 are no cure.
        return changed <= REMOVED * as_run and not fails(plan, changed)
    return changed <= _harmless(plan)


def fails(plan: ReplayPlan, excess_: float) -> bool:
    """True where a stretch shows a failure at all."""
    if plan.failure is Failure.STALLS:
        return not math.isfinite(excess_) or excess_ >= 0.9 * plan.level
    return not math.isfinite(excess_) or excess_ > _harmless(plan)


def _harmless(plan: ReplayPlan) -> float:
    """Excess that counts as nothing: some spread of the loss, or a fair part of how it fell.

    Near zero a loss can fail by little: no more is harmless than a part of what the log shows.
    """
    first = next((v for v in plan.loss.values if math.isfinite(v)), plan.level)
    fallen = max(0.0, first - plan.level)
    fair = max(0.1 * abs(plan.level), 0.3 * fallen)
    return max(8 * (plan.noise or 0.0), min(fair, REMOVED * _logged_excess(plan)), 1e-12)


def _logged_excess(plan: ReplayPlan) -> float:
    """`excess` of the logged losses after the onset; infinite where they do not tell."""
    if plan.suspect_step is None:
        return math.inf
    reach = range(plan.suspect_step, plan.suspect_step + TAIL + 1)
    near = [(s, v) for s, v in zip(plan.loss.steps, plan.loss.values, strict=True) if s in reach]
    if len(near) < 2:
        return math.inf
    logged = excess(plan, [s for s, _ in near], [v for _, v in near], [])
    return logged if logged > 0 else math.inf


def distance_from_log(plan: ReplayPlan, trajectory: Trajectory) -> float | None:
    """Median distance of the replayed from the logged losses in nats; None: under four points."""
    pairs = zip(trajectory.steps, trajectory.loss, strict=True)
    gaps = [abs(mine - logged) for s, mine in pairs if (logged := plan.loss.at(s)) is not None]
    finite = [gap for gap in gaps if math.isfinite(gap)]
    return float(np.median(finite)) if len(finite) >= 4 else None
