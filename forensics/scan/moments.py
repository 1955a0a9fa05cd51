"""Chooses checkpoints of a run, measures each and compares neighbours."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from forensics.checkpoint_facts import CheckpointSurvey, ReplicaFacts
from forensics.checkpoints import Opened, open_found
from forensics.errors import UnreadableFile
from forensics.found import FoundCheckpoint
from forensics.scan import _moments_replicas as replicas
from forensics.scan._moments_chosen import most_of
from forensics.scan._moments_compared import compared
from forensics.scan._moments_measured import checkpoint_facts
from forensics.scan._moments_state import Betas
from forensics.scan.engine import Progress, no_progress, processors
from forensics.scan.series import ScanMode

MOST = 12
"""Checkpoints that are looked at where all are scanned."""


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
        facts = tuple(pool.map(lambda it: checkpoint_facts(it[0], it[1], betas, progress), opened))
        both = list(zip(opened, facts, strict=True))
        pairs = tuple(pool.map(lambda a, b: compared(a, b, betas, progress), both, both[1:]))
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


def _replicas(found: FoundCheckpoint, opened: Mapping[str, Opened]) -> list[ReplicaFacts]:
    first = next(iter(opened.values()))
    copies = replicas.beside(opened) if len(opened) > 1 else replicas.inside(first)
    with suppress(UnreadableFile):
        most = most_of([t for held in copies.values() for t in held.values()] or first.tensors)
        facts = replicas.compare(found.path, found.step, copies, most)
        return [] if facts is None else [facts]
    return []
