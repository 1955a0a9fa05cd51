"""Does it happen again? From the healthy checkpoint through the onset with the run's own settings.

Reproduced on the same data: data or hyper-parameters. Not reproduced: randomness, parallelism,
what a resume lost, or hardware.
"""

import math
from collections.abc import Iterator

import numpy as np

from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.plan import Failure, Logged
from forensics.replay.session import Session
from forensics.replay.stretch import distance_from_log, excess, fails, replay, window
from forensics.replay_facts import AsRun, Trajectory

ROUNDING = 5e-4
"""Relative difference up to which a replayed loss counts as the logged one: other thread counts,
other kernels and a logger's digits stay below."""


def _run(session: Session) -> Iterator[Fields]:
    trajectory = replay(session, window(session))
    session.as_run = trajectory
    yield {"as_run": compared(session, trajectory)}


def compared(session: Session, trajectory: Trajectory) -> AsRun:
    """The replayed losses against the logged ones."""
    plan = session.plan
    # Batches captured out of the stretch meet other weights: their losses are not the logged ones.
    whole = trajectory.steps == tuple(range(session.next_step, trajectory.steps[-1] + 1))
    pairs = [
        (step, mine, logged)
        for step, mine in zip(trajectory.steps, trajectory.loss, strict=True)
        if whole and (logged := plan.loss.at(step)) is not None
    ]
    steps = [s for s, _, _ in pairs]
    logged_losses = [v for _, _, v in pairs]
    return AsRun(
        trajectory=trajectory,
        compared=len(pairs),
        exact=sum(_equal(mine, logged, plan.loss) for _, mine, logged in pairs),
        parts_at=next((s for s, mine, logged in pairs if not _close(mine, logged)), None),
        logged_excess=excess(plan, steps, logged_losses, []) if len(pairs) >= 2 else math.nan,
        reproduces=_reproduces(session, trajectory),
        matches_log=distance_from_log(plan, trajectory) if whole else None,
    )


def _reproduces(session: Session, trajectory: Trajectory) -> bool | None:
    plan = session.plan
    if plan.failure is Failure.NONE or math.isnan(trajectory.excess):
        return None
    reached = plan.suspect_step is not None and trajectory.steps[-1] >= plan.suspect_step
    if not reached and math.isfinite(trajectory.excess):
        return None
    failed = fails(plan, trajectory.excess)
    return failed if failed or trajectory.complete else None


def _equal(mine: float, logged: float, track: Logged) -> bool:
    """Equal to the last float32 bit, or to the last digit that the logger printed."""
    if math.isnan(mine) or math.isnan(logged):
        return math.isnan(mine) and math.isnan(logged)
    if track.digits is not None:
        return abs(mine - logged) <= 0.5000001 * 10.0**-track.digits
    return bool(np.float32(mine) == np.float32(logged))


def _close(mine: float, logged: float) -> bool:
    if not (math.isfinite(mine) and math.isfinite(logged)):
        return math.isfinite(mine) == math.isfinite(logged)
    return abs(mine - logged) <= ROUNDING * max(abs(mine), abs(logged), 1e-6)


EXPERIMENT = Experiment("trajectory with the run's own settings", 30, _run)
