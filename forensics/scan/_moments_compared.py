"""Two neighbouring checkpoints, compared."""

from collections.abc import Iterator
from contextlib import suppress

from forensics.checkpoint_facts import CheckpointFacts, CheckpointPair, UpdateFit
from forensics.checkpoints import Opened, Role
from forensics.errors import UnreadableFile
from forensics.found import FoundCheckpoint
from forensics.scan._moments_adam import EXACT
from forensics.scan._moments_chosen import alike, by_name, most_of, updates_between
from forensics.scan._moments_pairs import moment_change, weight_change
from forensics.scan._moments_state import Betas, adam_settings, is_adam_like
from forensics.scan._moments_step import update_fit
from forensics.scan.engine import Progress

Measured = tuple[tuple[FoundCheckpoint, Opened], CheckpointFacts]


def compared(
    first: Measured, second: Measured, betas: Betas | None, progress: Progress
) -> CheckpointPair:
    """What changed from one checkpoint to the next."""
    (earlier, before), (later, after) = first, second
    steps = (later[0].step or 0) - (earlier[0].step or 0)
    old, new = by_name(earlier[1], Role.PARAM), by_name(later[1], Role.PARAM)
    most, weights = most_of(list(new.values())), []
    for a, b in alike(old, new):
        with suppress(UnreadableFile):
            weights.append(weight_change(a, b, most))
            progress(2 * weights[-1].read * a.dtype.size)
    old, new = by_name(earlier[1], Role.EXP_AVG_SQ), by_name(later[1], Role.EXP_AVG_SQ)
    most, moments = most_of(list(new.values())), []
    beta2 = {b[1] for b in (*before.state.betas, *after.state.betas)} or set((betas or ())[1:])
    both_adam = is_adam_like(earlier[1].state) and is_adam_like(later[1].state)
    if len(beta2) == 1 and both_adam:
        for a, b in alike(old, new):
            counted = updates_between(earlier[1], later[1], b.name, steps)
            if a.dtype in EXACT and counted is not None:
                with suppress(UnreadableFile):
                    moments.append(moment_change(a, b, min(beta2), counted, most))
                    progress(2 * moments[-1].compared * a.dtype.size)
    trained = before.trained | after.trained
    return CheckpointPair(
        before.checkpoint,
        after.checkpoint,
        steps,
        tuple(weights),
        tuple(moments),
        trained,
        tuple(_updates(earlier[1], later[1], after, betas, progress)) if steps == 1 else (),
    )


def _updates(
    earlier: Opened, later: Opened, after: CheckpointFacts, betas: Betas | None, progress: Progress
) -> Iterator[UpdateFit]:
    """The single step between the two, of every tensor that is kept in full and was updated."""
    if not is_adam_like(later.state):
        return
    first, second = by_name(later, Role.EXP_AVG), by_name(later, Role.EXP_AVG_SQ)
    both = alike(by_name(earlier, Role.PARAM), by_name(later, Role.PARAM))
    kept = [
        (a, b)
        for a, b in both
        if b.name in first
        and b.name in second
        and {t.dtype for t in (a, b, first[b.name], second[b.name])} <= EXACT
        and first[b.name].shape == second[b.name].shape == b.shape
        and updates_between(earlier, later, b.name, 1) == 1
    ]
    most = most_of([b for _, b in kept])
    for a, b in kept:
        own = adam_settings(after.state, later.state.optimizer_steps.get(b.name), betas)
        with suppress(UnreadableFile):
            fit = update_fit(a, b, (first[b.name], second[b.name]), own, most)
            progress(4 * fit.read * b.dtype.size)
            yield fit
