"""Puts together the logs of successive iterations: one file for each, with one point.

Kaldi starts a process for each iteration, and several where it trains in parallel; the mean over
those of one iteration is what the iteration came to.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from forensics.loading.intake import Intake, Source
from forensics.natural_order import natural_key
from forensics.readers._base import Reading
from forensics.readers.kaldi_log import FORMAT
from forensics.run import Note, Series, TextEvidence, TextKind

_FINAL = ("final.mdl", "final.raw")
"""What is left beside the logs' folder by a training that did all its iterations."""
NEGATED = "the objective, the better the higher, is read as a loss: its negative"


def joined_iterations(intake: Intake, paths: Iterable[str]) -> Intake:
    """What was read, with the logs of successive iterations in one folder made one source.

    Args:
        intake: What was read.
        paths: All files of the tree.
    """
    folders: dict[str, list[Source]] = defaultdict(list)
    for source in intake.sources:
        if source.format == FORMAT:
            folders[str(PurePosixPath(source.path).parent)].append(source)
    if not folders:
        return intake
    finals = {p for p in paths if PurePosixPath(p).name in _FINAL}
    joined = [_join(folder, group, finals) for folder, group in folders.items()]
    others = [s for s in intake.sources if s.format != FORMAT]
    notes = [note for source in joined for note in source.reading.notes]
    return replace(intake, sources=(*others, *joined), notes=(*intake.notes, *notes))


def _join(folder: str, group: Sequence[Source], finals: set[str]) -> Source:
    group = sorted(group, key=lambda s: natural_key(s.path))
    parts: dict[str, list[Series]] = defaultdict(list)
    for source in group:
        for one in source.reading.series:
            parts[one.tag].append(one)
    home = PurePosixPath(folder).parent
    finished = any(str(home / name) in finals for name in _FINAL)
    series = tuple(_in_a_row(pieces) for pieces in parts.values())
    first = next((s for s in group if s.reading.series), group[0])
    notes = tuple(Note(NEGATED, piece.source) for piece in parts.get("train_loss", ())[:1])
    text = _telling([t for s in group for t in s.reading.text], finished)
    return replace(first, reading=Reading(series, text=text, notes=notes))


def _in_a_row(pieces: Sequence[Series]) -> Series:
    """One series, of each step the mean over the processes that shared it."""
    at = np.concatenate([p.step for p in pieces])
    value = np.concatenate([p.value for p in pieces])
    step, place = np.unique(at, return_inverse=True)
    return replace(pieces[0], step=step, value=np.bincount(place, value) / np.bincount(place))


def _telling(text: Sequence[TextEvidence], finished: bool) -> tuple[TextEvidence, ...]:
    """That a process ended well says so of the run only where it was the last of them."""
    ends = [t for t in text if t.kind is TextKind.RUN_FINISHED]
    last = max(ends, key=lambda t: -1 if t.step is None else t.step, default=None)
    kept = [t for t in text if t.kind is not TextKind.RUN_FINISHED]
    return (*kept, last) if finished and last is not None else tuple(kept)
