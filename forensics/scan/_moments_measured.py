"""One checkpoint, measured."""

import re
from contextlib import suppress

from forensics.checkpoint_facts import CheckpointFacts, WeightFacts
from forensics.checkpoints import Opened, Role
from forensics.errors import UnreadableFile
from forensics.found import FoundCheckpoint
from forensics.scan._moments_adam import moment_facts
from forensics.scan._moments_chosen import by_name, most_of
from forensics.scan._moments_state import Betas, adam_settings, is_adam_like, state_facts
from forensics.scan._moments_weights import weight_facts
from forensics.scan.engine import Progress

_STATISTIC = re.compile(r"(?:running|moving)_(?:mean|var|variance)$")


def checkpoint_facts(
    found: FoundCheckpoint, opened: Opened, betas: Betas | None, progress: Progress
) -> CheckpointFacts:
    """What the weights, statistics and moments of a checkpoint tell."""
    state = state_facts(opened.state)
    params = by_name(opened, Role.PARAM)
    statistics = by_name(opened, Role.BUFFER, Role.PARAM)
    watched = params | {n: t for n, t in statistics.items() if _STATISTIC.search(n)}
    most, weights = most_of(list(watched.values())), list[WeightFacts]()
    for tensor in watched.values():
        with suppress(UnreadableFile):
            weights.append(weight_facts(tensor, most))
            progress(weights[-1].read * tensor.dtype.size)
    first, second = by_name(opened, Role.EXP_AVG), by_name(opened, Role.EXP_AVG_SQ)
    most, moments = most_of(list(second.values())), []
    for name, v in second.items() if is_adam_like(opened.state) else ():
        if name in first and first[name].shape == v.shape:
            own = adam_settings(state, opened.state.optimizer_steps.get(name), betas)
            with suppress(UnreadableFile):
                moments.append(moment_facts(first[name], v, own, most))
                progress(2 * moments[-1].read * v.dtype.size)
    trained = frozenset(first) | frozenset(second) | frozenset(opened.state.optimizer_steps)
    size = sum(t.size for t in params.values())
    return CheckpointFacts(
        checkpoint=found.path,
        step=found.step,
        state=state,
        weights=tuple(weights),
        moments=tuple(moments),
        trained=trained,
        optimizer=bool(trained or opened.state.param_groups),
        masters=any(t.role is Role.MASTER for t in opened.tensors),
        narrow=sum(t.size for t in params.values() if t.dtype.size <= 2) > size / 2,
    )
