"""Scans the checkpoints of a run: all of them, or the few that show where the damage began.

A NaN in a weight or in a moment never heals, so of a series in step order the poisoned ones are
the last ones, and halving finds the first of N in about log2 N scans.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from forensics.errors import UnreadableFile
from forensics.found import FoundCheckpoint, Note
from forensics.scan.engine import CheckpointScan
from forensics.tensor_stats import TensorStats

FEW = 8
"""Checkpoints whose order is not known are scanned as long as there are no more than this."""


class ScanMode(StrEnum):
    """Which checkpoints are scanned."""

    BISECT = "bisect"
    ALL = "all"
    NONE = "none"


@dataclass(frozen=True)
class SeriesScan:
    """What was scanned of a series."""

    tensors: tuple[TensorStats, ...] = ()
    """Of every scanned checkpoint, in the order of the series."""
    scanned: tuple[str, ...] = ()
    """Paths, in the order in which they were scanned; those that could not be read are not."""
    notes: tuple[Note, ...] = ()


ScanOne = Callable[[FoundCheckpoint], CheckpointScan]
"""Opens and scans one checkpoint; raises UnreadableFile where nothing of it can be read."""


def scan_series(
    checkpoints: Sequence[FoundCheckpoint],
    scan_one: ScanOne,
    mode: ScanMode = ScanMode.BISECT,
    *,
    onset_step: int | None = None,
) -> SeriesScan:
    """Scan what the mode asks for.

    Args:
        checkpoints: Of one run, in any order.
        scan_one: Scans one of them.
        mode: ``bisect`` scans the last one first. If it is finite, all before it are; else
            halving finds the first poisoned and the last finite one. Copies that ranks keep of
            one step are scanned together.
        onset_step: Where the logs say that the failure began: the last checkpoint before it is
            scanned too, for it is the one to resume from.
    """
    if mode is ScanMode.NONE:
        return SeriesScan()
    saves, loose = in_order(checkpoints, finished=mode is ScanMode.BISECT)
    series = _Series(saves, scan_one)
    if mode is ScanMode.ALL:
        for save in saves:
            series.is_poisoned(save)
    else:
        _bisect(series, saves, onset_step)
    for save in loose[-FEW:] if mode is ScanMode.BISECT else loose:
        series.is_poisoned(save)
    return series.result(loose)


Save = tuple[FoundCheckpoint, ...]
"""One moment of the training: a checkpoint, or the copies that ranks keep of it."""


def in_order(
    checkpoints: Sequence[FoundCheckpoint], *, finished: bool
) -> tuple[list[Save], list[Save]]:
    """The series, and the checkpoints whose place in it is not known.

    It is ordered by step; where no checkpoint has one by epoch; where none has that by the time of
    writing, which a copy loses: no matter where there are so few that all are scanned.

    Args:
        checkpoints: In any order.
        finished: Leave out those whose saving was not finished, unless all are such.
    """
    usable = [c for c in checkpoints if c.complete or not finished] or list(checkpoints)
    for place in (_step, _epoch):
        placed = [c for c in usable if place(c) is not None]
        if placed:
            loose: list[Save] = [(c,) for c in usable if place(c) is None]
            placed.sort(key=lambda c: (place(c), c.path))
            return [tuple(copies) for _, copies in groupby(placed, key=place)], loose
    by_time = sorted(usable, key=lambda c: (c.modified, c.path))
    saves: list[Save] = [(c,) for c in by_time]
    return ([], saves) if len(saves) <= FEW else (saves, [])


def _step(checkpoint: FoundCheckpoint) -> int | None:
    return checkpoint.step


def _epoch(checkpoint: FoundCheckpoint) -> int | None:
    return checkpoint.epoch


def _bisect(series: "_Series", saves: Sequence[Save], onset_step: int | None) -> None:
    readable = list(saves)
    while readable and series.is_poisoned(readable[-1]) is None:
        readable.pop()
    before = [s for s in readable if onset_step is not None and (s[0].step or 0) < onset_step]
    while before and series.is_poisoned(before[-1]) is None:
        before.pop()
    if not readable or not series.is_poisoned(readable[-1]):
        return
    low, high = -1, len(readable) - 1  # -1 stands for the start of the training, which was finite
    if before:
        guess = readable.index(before[-1])
        low, high = (low, guess) if series.is_poisoned(before[-1]) else (guess, high)
    while high - low > 1:
        middle = (low + high) // 2
        poisoned = series.is_poisoned(readable[middle])
        if poisoned is None:
            del readable[middle]
            high -= 1
        elif poisoned:
            high = middle
        else:
            low = middle


class _Series:
    """Scans each save once and remembers what came of it."""

    def __init__(self, saves: Sequence[Save], scan_one: ScanOne) -> None:
        self._saves = saves
        self._scan_one = scan_one
        self._scans: dict[str, CheckpointScan | None] = {}
        self._notes: list[Note] = []
        self._unreadable: list[Note] = []

    def is_poisoned(self, save: Save) -> bool | None:
        """True where a tensor of any copy is; None where no copy can be read."""
        scans = [scan for scan in map(self._scan, save) if scan is not None]
        if not scans:
            return None
        return any(tensor.is_poisoned for scan in scans for tensor in scan.tensors)

    def _scan(self, found: FoundCheckpoint) -> CheckpointScan | None:
        if found.path not in self._scans:
            try:
                self._scans[found.path] = scan = self._scan_one(found)
                self._notes.extend(scan.notes)
            except UnreadableFile as error:
                self._scans[found.path] = None
                self._unreadable.append(Note(str(error), found.path))
        return self._scans[found.path]

    def result(self, loose: Sequence[Save]) -> SeriesScan:
        """Everything scanned, in the order of the series and then those without a place."""
        paths = [found.path for save in (*self._saves, *loose) for found in save]
        scans = [scan for path in paths if (scan := self._scans.get(path)) is not None]
        return SeriesScan(
            tuple(tensor for scan in scans for tensor in scan.tensors),
            tuple(path for path, scan in self._scans.items() if scan is not None),
            (*self._unreadable, *said_once(self._notes)),
        )


def said_once(notes: Iterable[Note]) -> list[Note]:
    """Notes, of which one that holds of many checkpoints alike is there once, with a count."""
    sources: dict[str, list[str]] = {}
    for note in notes:
        sources.setdefault(note.text, []).append(note.source)
    return [
        Note(text if len(set(where)) == 1 else f"{text} (and {_others(where)} alike)", where[0])
        for text, where in sources.items()
    ]


def _others(where: Sequence[str]) -> str:
    count = len(set(where)) - 1
    return "1 more" if count == 1 else f"{count:,} more"
