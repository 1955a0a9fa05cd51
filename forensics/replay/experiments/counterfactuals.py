"""Which single change makes the failure go away?

The same stretch from the same checkpoint, one variable changed at a time; the smallest change that
works names the cause. Where the failure does not come again by itself, changes that could bring it
about are tried instead, and what comes closest to the log is told.
"""

import time
from collections.abc import Iterator

from forensics.replay.errors import NotDone
from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.session import Session
from forensics.replay.stretch import distance_from_log, fails, removes, replay, window
from forensics.replay.variants import Change, variants
from forensics.replay_facts import Counterfactual, Trajectory


def _run(session: Session) -> Iterator[Fields]:
    as_run = session.as_run
    if as_run is None:
        raise NotDone("the stretch could not be replayed with the run's own settings")
    done: list[Counterfactual] = []
    changes = list(variants(session))
    for place, change in enumerate(changes):
        began = time.monotonic()
        try:
            steps = window(session, ramp=change.knobs.warmup)
            trajectory = replay(session, steps, change.knobs)
        except NotDone as why:
            rest = ", ".join(c.words for c in changes[place:])
            raise NotDone(f"{rest}: {why}") from why
        if not trajectory.complete and not fails(session.plan, trajectory.excess):
            # Cut short before it could fail: nothing is known of it.
            rest = ", ".join(c.words for c in changes[place:])
            raise NotDone(f"{rest}: the budget of {session.plan.budget:g} s was spent (--budget)")
        done.append(_judged(session, change, as_run, trajectory))
        yield {"counterfactuals": tuple(done)}
        if session.time_left() < 1.2 * (time.monotonic() - began) and place + 1 < len(changes):
            rest = ", ".join(c.words for c in changes[place + 1 :])
            raise NotDone(f"{rest}: no budget was left (--budget)")
    session.begin()


def _judged(
    session: Session, change: Change, as_run: Trajectory, trajectory: Trajectory
) -> Counterfactual:
    plan = session.plan
    failed = fails(plan, as_run.excess)
    return Counterfactual(
        variant=change.variant,
        setting=change.setting,
        before=change.before,
        after=change.after,
        trajectory=trajectory,
        removes=failed and trajectory.complete and removes(plan, as_run.excess, trajectory.excess),
        clip=change.knobs.clip,
        matches_log=distance_from_log(session.plan, trajectory),
    )


EXPERIMENT = Experiment("counterfactuals", 40, _run)
