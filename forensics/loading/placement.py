"""Finds the step of each checkpoint, in the unit by which the run's log counts.

A file says when it was written by the state in it, by its name, or in a line of the log. Names
count steps or epochs, and epochs from 0 or from 1: Keras' ``weights-13`` is written at the end of
what its ``CSVLogger`` calls epoch 12. The numbers of one family of names tell which it is.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from forensics.loading.saved import Saved, saved_inside
from forensics.natural_order import natural_key
from forensics.run import Axis, FoundCheckpoint, Note, Series, TextEvidence, TextKind
from forensics.signals import Signal, classify

SAME_UNIT = (0.6, 1.1)
"""Updates of the last save as a share of the last logged step, where the log counts updates."""
STEPS_AN_EPOCH = 3
"""A bare number no higher than the last epoch counts epochs where there are so many more steps."""
_LOSSES = (Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH)
_KERAS = (".keras", ".h5", ".hdf5")
_SAVED = "numbered from {}, the log counts epochs from {}: each is placed where its epoch ended"


@dataclass(frozen=True)
class Clock:
    """How the log counts."""

    by_epoch: bool
    """The log itself counts epochs, or rows of one epoch each."""
    first: int
    """First epoch logged."""
    last: int
    """Last epoch logged; -1: none was."""
    last_step: int
    ends: Mapping[int, int]
    """Epoch -> last step logged in it."""

    def step_of(self, epoch: int) -> int | None:
        """The step at the end of an epoch."""
        return epoch if self.by_epoch else self.ends.get(epoch)


def placed(
    root: Path,
    checkpoints: Sequence[FoundCheckpoint],
    series: Sequence[Series],
    text: Sequence[TextEvidence],
) -> tuple[list[FoundCheckpoint], list[Note]]:
    """Checkpoints by step, those without one last, and remarks on how they were placed."""
    clock = _clock(series)
    open_to_doubt = [c for c in checkpoints if c.step is None or c.number is not None]
    saved = _in_steps(saved_inside(root, open_to_doubt), clock) if series else {}
    found: list[FoundCheckpoint] = [c for c in checkpoints if c not in open_to_doubt]
    notes: list[Note] = []
    for family in _families(open_to_doubt):
        some, remark = _place_family(family, saved, clock)
        found += [c if c.step is not None else _as_said(c, text) for c in some]
        notes += remark
    return sorted(found, key=_order), notes


def _in_steps(saved: Mapping[str, Saved], clock: Clock) -> Mapping[str, Saved]:
    """What was saved, with the updates for the steps where the log counts these.

    A log by epoch only needs them to grow alike.
    """
    updates = [s.updates for s in saved.values() if s.updates is not None]
    low, high = (share * clock.last_step for share in SAME_UNIT)
    if not updates or not (clock.by_epoch or low <= max(updates) <= high + 1):
        return saved
    return {p: s if s.step is not None else replace(s, step=s.updates) for p, s in saved.items()}


def _order(found: FoundCheckpoint) -> tuple[bool, int, int, float, object]:
    """By step; else by the number of the name, then by when the file was written."""
    number = found.epoch if found.epoch is not None else found.number
    number = -1 if number is None else number
    return found.step is None, found.step or 0, number, found.modified, natural_key(found.path)


def _clock(series: Sequence[Series]) -> Clock:
    logged = [s for s in series if len(s.step)]
    kinds = (_LOSSES, (Signal.EVAL_LOSS, Signal.LOSS_COMPONENT), tuple(Signal))
    losses = next((some for kind in kinds if (some := _of(kind, logged))), [])
    last = max((int(s.step.max()) for s in losses), default=0)
    if losses and all(s.axis in (Axis.EPOCH, Axis.ROW) for s in losses):
        first = min(int(s.step.min()) for s in losses)
        return Clock(True, first, last, last, {})
    tables = [s for s in series if classify(s.tag) is Signal.EPOCH and s.axis is Axis.STEP]
    table = max(tables, key=lambda s: len(s.step), default=None)
    if table is None or np.any(table.value != np.floor(table.value)):
        return Clock(False, 0, -1, last, {})
    order = np.argsort(table.step, kind="stable")
    ends = dict(
        zip(table.value[order].astype(int).tolist(), table.step[order].tolist(), strict=True)
    )
    return Clock(False, min(ends), max(ends), last, ends)


def _of(signals: Sequence[Signal], series: Sequence[Series]) -> list[Series]:
    return [s for s in series if classify(s.tag) in signals]


def _families(checkpoints: Iterable[FoundCheckpoint]) -> list[list[FoundCheckpoint]]:
    """Checkpoints whose paths differ in numbers alone."""
    alike: dict[str, list[FoundCheckpoint]] = defaultdict(list)
    for one in checkpoints:
        alike[re.sub(r"\d+(?:\.\d+)?", "#", one.path)].append(one)
    return list(alike.values())


def _place_family(
    family: list[FoundCheckpoint], saved: Mapping[str, Saved], clock: Clock
) -> tuple[list[FoundCheckpoint], list[Note]]:
    numbers = {c.path: c.epoch if c.epoch is not None else c.number for c in family}
    known = {path: n for path, n in numbers.items() if n is not None}
    saved = _that_go_on(known, saved)
    told = len(known) > 1 or any(c.epoch is not None or c.step is not None for c in family)
    epochs = told and _are_epochs(family, known, saved, clock)
    done = _are_done(known, saved, clock, family[0].path) if epochs else None
    found = [_place(c, known.get(c.path), epochs, done, saved, clock) for c in family]
    moved = done is not None and clock.first in (0, 1) and done != clock.first
    if done is None or not (moved and clock.by_epoch):
        return found, []
    return found, [Note(_SAVED.format(int(done), clock.first), family[0].path)]


def _that_go_on(numbers: Mapping[str, int], saved: Mapping[str, Saved]) -> Mapping[str, Saved]:
    """What was saved, without steps that begin again: those of the batches of an epoch."""
    both = [(n, saved[path].step) for path, n in numbers.items() if path in saved]
    steps = [step for _, step in sorted(both, key=lambda one: one[0]) if step is not None]
    if all(a < b for a, b in pairwise(steps)):
        return saved
    return {path: replace(one, step=None) for path, one in saved.items()}


def _are_epochs(
    family: Sequence[FoundCheckpoint],
    numbers: Mapping[str, int],
    saved: Mapping[str, Saved],
    clock: Clock,
) -> bool:
    """True where the numbers of a family of names count epochs."""
    if any(c.epoch is not None for c in family):
        return True
    if not numbers:
        return False
    if clock.by_epoch:
        return max(numbers.values()) <= clock.last + 1
    known = [(n, saved[path]) for path, n in numbers.items() if path in saved]
    if any(s.step is not None and abs(s.step - n) <= 1 < n for n, s in known):
        return False
    if any(s.epoch is not None and abs(s.epoch - n) <= 1 for n, s in known):
        return True
    highest = max(numbers.values())
    return highest <= clock.last + 1 and STEPS_AN_EPOCH * highest <= clock.last_step


def _are_done(
    numbers: Mapping[str, int], saved: Mapping[str, Saved], clock: Clock, path: str
) -> bool | None:
    """True where the numbers count the epochs done, from 1; False: from 0; None: unknown."""
    counts = sorted(set(numbers.values()))
    steps = [(n, saved[p].step) for p, n in numbers.items() if p in saved]
    by_steps = _by_steps([(n, s) for n, s in steps if s])
    if by_steps is not None:
        return by_steps
    if not counts:
        return None
    if counts[0] == 0:  # beside a log from 1, 0 may be what was there before training
        return None if clock.first == 1 and counts[-1] == clock.last else False
    if clock.first == 0 and counts[-1] == clock.last + 1:
        return True
    every = math.gcd(*(b - a for a, b in pairwise(counts))) or counts[0]
    if len(counts) > 1 and counts[0] == every:
        return True
    if len(counts) > 1 and every > 1 and (counts[0] + 1) % every == 0:
        return False
    return True if path.endswith(_KERAS) else None


def _by_steps(known: Sequence[tuple[int, int]]) -> bool | None:
    """Whether steps grow with the number or with the number that follows it."""
    if len({n for n, _ in known}) < 2:
        return None
    for done in (True, False):
        each = [s / (n if done else n + 1) for n, s in known if n or not done]
        if max(each) - min(each) <= 1e-3 * max(each):
            return done
    return None


def _place(
    found: FoundCheckpoint,
    number: int | None,
    epochs: bool,
    done: bool | None,
    saved: Mapping[str, Saved],
    clock: Clock,
) -> FoundCheckpoint:
    inside = saved.get(found.path, Saved())
    within = inside.step is not None and inside.step <= SAME_UNIT[1] * clock.last_step + 1
    if within and not clock.by_epoch:
        return replace(found, step=inside.step)
    if epochs and number is not None:
        counted_from = 1 if done else 0
        shift = 0 if done is None or clock.first not in (0, 1) else clock.first - counted_from
        return replace(found, step=clock.step_of(number + shift), epoch=number)
    if found.step is None and inside.epoch is not None:
        return replace(found, step=clock.step_of(inside.epoch), epoch=inside.epoch)
    return found


def _as_said(found: FoundCheckpoint, text: Sequence[TextEvidence]) -> FoundCheckpoint:
    """Placed at the last line of the log that says that this file was saved."""
    bare = found.path.rpartition("/")[2]
    if not re.search(r"[\d.]", bare):
        return found  # a folder such as ``out``: the word may mean anything
    name = re.escape(bare)
    lines = [t for t in text if t.kind is TextKind.CHECKPOINT_SAVED and t.step is not None]
    told = [t.step for t in lines if re.search(rf"(?<![\w.-]){name}(?![\w/-])", t.text)]
    return replace(found, step=told[-1]) if told else found
