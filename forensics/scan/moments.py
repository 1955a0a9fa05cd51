"""Chooses checkpoints of a run, measures each and compares neighbours."""

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from forensics.checkpoint_facts import (
    CheckpointFacts,
    CheckpointPair,
    CheckpointSurvey,
    ReplicaFacts,
    UpdateFit,
    WeightFacts,
)
from forensics.checkpoints import Opened, Role, StoredTensor, open_found
from forensics.errors import UnreadableFile
from forensics.found import FoundCheckpoint
from forensics.scan import _moments_replicas as replicas
from forensics.scan._moments_adam import EXACT, moment_facts
from forensics.scan._moments_pairs import moment_change, weight_change
from forensics.scan._moments_state import Betas, adam_settings, is_adam_like, state_facts
from forensics.scan._moments_step import update_fit
from forensics.scan._moments_values import BLOCK, is_readable
from forensics.scan._moments_weights import weight_facts
from forensics.scan.engine import Progress, no_progress, processors
from forensics.scan.series import ScanMode

BUDGET = 1 << 23
"""Elements of each role read of one checkpoint; beyond, evenly spaced stretches stand for all."""
MOST = 12
"""Checkpoints that are looked at where all are scanned."""
_COPY = re.compile(r"(?:^|[._/])(?:\w*ema|ema\w*|shadow|teacher|target\w*)[._/]", re.IGNORECASE)
"""Averages of the weights and networks that follow another: no optimizer updates these."""
_STATISTIC = re.compile(r"(?:running|moving)_(?:mean|var|variance)$")


_Measured = tuple[tuple[FoundCheckpoint, Opened], CheckpointFacts]


def survey(
    root: Path,
    checkpoints: Sequence[FoundCheckpoint],
    mode: ScanMode = ScanMode.BISECT,
    *,
    onset_step: int | None = None,
    betas: Betas | None = None,
    progress: Progress = no_progress,
) -> CheckpointSurvey | None:
    """Look at the values of the checkpoints that tell most.

    Args:
        root: The run directory; the paths of the checkpoints are relative to it.
        checkpoints: As found there.
        mode: ``bisect`` looks at the first, at the two before the onset, at the one after it and
            at the last; ``all`` at up to `MOST`; ``none`` at none.
        onset_step: Where the logs say that the failure began.
        betas: Of the configuration, for checkpoints that keep no settings of the optimizer.
        progress: Called with the number of bytes done since the last call.

    Returns:
        None where nothing was looked at.
    """
    usable = [c for c in checkpoints if c.complete and c.step is not None]
    if mode is ScanMode.NONE or not usable:
        return None
    saves = _saves(usable)
    wanted = _chosen([save[0] for save in saves], mode, onset_step)
    opened: list[tuple[FoundCheckpoint, Opened]] = []
    copies: list[ReplicaFacts] = []
    for save in saves:
        if save[0] in wanted:
            every = _open(root, save)
            if every:
                opened.append((save[0], next(iter(every.values()))))
                copies += _replicas(save[0], every)
    if not opened:
        return None
    with ThreadPoolExecutor(processors()) as pool:
        facts = tuple(pool.map(lambda it: _facts(it[0], it[1], betas, progress), opened))
        both = list(zip(opened, facts, strict=True))
        pairs = tuple(pool.map(lambda a, b: _pair(a, b, betas, progress), both, both[1:]))
    return CheckpointSurvey(facts, pairs, tuple(copies))


def _saves(checkpoints: Sequence[FoundCheckpoint]) -> list[list[FoundCheckpoint]]:
    """By step, and within a step the copies of several ranks; other doubles are left out."""
    saves: dict[int, list[FoundCheckpoint]] = {}
    for found in sorted(checkpoints, key=lambda c: (c.step or 0, len(c.path), c.path)):
        save = saves.setdefault(found.step or 0, [])
        first = replicas.without_rank(save[0].path) if save else ""
        if not save or (first == replicas.without_rank(found.path) and len(save) < MOST):
            save.append(found)
    return list(saves.values())


def _chosen(
    series: Sequence[FoundCheckpoint], mode: ScanMode, onset_step: int | None
) -> Sequence[FoundCheckpoint]:
    before = [c for c in series if onset_step is None or (c.step or 0) < onset_step]
    after = [c for c in series if c not in before]
    chosen = [series[0], *before[-2:], *after[:1], series[-1]]
    if mode is ScanMode.ALL:
        every = max(1, -(-len(series) // (MOST - len(set(map(id, chosen))))))
        chosen += series if len(series) <= MOST else series[::every]
    return chosen


def _open(root: Path, save: Sequence[FoundCheckpoint]) -> dict[str, Opened]:
    """What can be opened of one save; why the rest cannot has been said by the scan."""
    opened = {}
    for found in save:
        with suppress(UnreadableFile):
            opened[found.path] = open_found(root, found)
    return opened


def _most(tensors: Sequence[StoredTensor]) -> int:
    """Elements of one tensor to read, so that all together keep to the budget."""
    if sum(tensor.size for tensor in tensors) <= BUDGET:
        return BUDGET
    return max(2 * BLOCK, BUDGET // len(tensors))


def _by_name(opened: Opened, *roles: Role) -> dict[str, StoredTensor]:
    """Readable tensors of the model, tied ones once, of several ranks the first."""
    seen: set[str] = set()
    named: dict[str, StoredTensor] = {}
    for tensor in opened.tensors:
        fresh = tensor.name not in named and (not tensor.storage or tensor.storage not in seen)
        own = tensor.role in roles and not _COPY.search(tensor.name)
        if own and fresh and tensor.size and is_readable(tensor):
            named[tensor.name] = tensor
            seen.add(tensor.storage)
    return named


def _facts(
    found: FoundCheckpoint, opened: Opened, betas: Betas | None, progress: Progress
) -> CheckpointFacts:
    state = state_facts(opened.state)
    params = _by_name(opened, Role.PARAM)
    statistics = _by_name(opened, Role.BUFFER, Role.PARAM)
    watched = params | {n: t for n, t in statistics.items() if _STATISTIC.search(n)}
    most, weights = _most(list(watched.values())), list[WeightFacts]()
    for tensor in watched.values():
        with suppress(UnreadableFile):
            weights.append(weight_facts(tensor, most))
            progress(weights[-1].read * tensor.dtype.size)
    first, second = _by_name(opened, Role.EXP_AVG), _by_name(opened, Role.EXP_AVG_SQ)
    most, moments = _most(list(second.values())), []
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


def _replicas(found: FoundCheckpoint, opened: Mapping[str, Opened]) -> list[ReplicaFacts]:
    first = next(iter(opened.values()))
    copies = replicas.beside(opened) if len(opened) > 1 else replicas.inside(first)
    with suppress(UnreadableFile):
        most = _most([t for held in copies.values() for t in held.values()] or first.tensors)
        facts = replicas.compare(found.path, found.step, copies, most)
        return [] if facts is None else [facts]
    return []


def _pair(
    first: _Measured, second: _Measured, betas: Betas | None, progress: Progress
) -> CheckpointPair:
    (earlier, before), (later, after) = first, second
    steps = (later[0].step or 0) - (earlier[0].step or 0)
    old, new = _by_name(earlier[1], Role.PARAM), _by_name(later[1], Role.PARAM)
    most, weights = _most(list(new.values())), []
    for a, b in _alike(old, new):
        with suppress(UnreadableFile):
            weights.append(weight_change(a, b, most))
            progress(2 * weights[-1].read * a.dtype.size)
    old, new = _by_name(earlier[1], Role.EXP_AVG_SQ), _by_name(later[1], Role.EXP_AVG_SQ)
    most, moments = _most(list(new.values())), []
    beta2 = {b[1] for b in (*before.state.betas, *after.state.betas)} or set((betas or ())[1:])
    both_adam = is_adam_like(earlier[1].state) and is_adam_like(later[1].state)
    if len(beta2) == 1 and both_adam:
        for a, b in _alike(old, new):
            counted = _counted(earlier[1], later[1], b.name, steps)
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
    first, second = _by_name(later, Role.EXP_AVG), _by_name(later, Role.EXP_AVG_SQ)
    both = _alike(_by_name(earlier, Role.PARAM), _by_name(later, Role.PARAM))
    kept = [
        (a, b)
        for a, b in both
        if b.name in first
        and b.name in second
        and {t.dtype for t in (a, b, first[b.name], second[b.name])} <= EXACT
        and first[b.name].shape == second[b.name].shape == b.shape
        and _counted(earlier, later, b.name, 1) == 1
    ]
    most = _most([b for _, b in kept])
    for a, b in kept:
        own = adam_settings(after.state, later.state.optimizer_steps.get(b.name), betas)
        with suppress(UnreadableFile):
            fit = update_fit(a, b, (first[b.name], second[b.name]), own, most)
            progress(4 * fit.read * b.dtype.size)
            yield fit


def _alike(
    old: Mapping[str, StoredTensor], new: Mapping[str, StoredTensor]
) -> list[tuple[StoredTensor, StoredTensor]]:
    both = [(old[name], tensor) for name, tensor in new.items() if name in old]
    return [(a, b) for a, b in both if a.dtype is b.dtype and a.shape == b.shape]


def _counted(earlier: Opened, later: Opened, name: str, steps: int) -> float | None:
    """Updates of a parameter between the two; None where its counter went back."""
    a, b = earlier.state.optimizer_steps.get(name), later.state.optimizer_steps.get(name)
    counted = float(steps) if a is None or b is None else b - a
    return counted if counted > 0 and steps > 0 else None
