"""Overflow lines of loss scalers: each is a skipped step and a new loss scale.

DeepSpeed, apex and fairseq print them; a loss scale is seldom logged otherwise. Every rank may
print the same, and DeepSpeed prints one overflow in up to three ways.
"""

import re
from dataclasses import dataclass, field, replace

import numpy as np

from forensics.readers._text.events import LONGEST_TEXT, Event
from forensics.readers._text.masks import strip_prefix
from forensics.readers._text.numerals import NUMBER, to_float
from forensics.readers._text.rows import Ordinals
from forensics.run import TextKind

LOSS_SCALE_TAG = "loss scale"
_OVERFLOW = re.compile(
    r"(?i:\bOVERFLOW! |\b(?:grad(?:ient)?s?\s+)?overflow detected\b|\bgradient overflow\b"
    r"|grad overflow on iteration)"
)
_ITERATION = re.compile(r"(?i:overflow on iteration\s+(?P<n>\d+))")
_CHANGE = re.compile(
    rf"(?i:(?:attempted loss scale:\s*(?P<a>{NUMBER}),\s*reducing to"
    rf"|(?:reducing|increasing) dynamic loss scale from\s+(?P<b>{NUMBER})\s+to"
    rf"|(?:setting|reducing|increasing) loss scale to:?)\s*(?P<to>{NUMBER}))"
)
_MOST = 100_000
_SAME_BURST = 64  # lines between what several ranks say of one change


@dataclass(frozen=True)
class _Said:
    """One line about the loss scale."""

    at: int
    line: int
    text: str
    overflow: bool
    iteration: int | None
    before: float | None
    after: float | None


@dataclass(frozen=True)
class ScalePoint:
    """A new loss scale; ``step`` where the line or its place tells it."""

    at: int
    step: int
    value: float


@dataclass(eq=False)
class Overflows:
    """Collects what is said about the loss scale while the file streams by."""

    _said: list[_Said] = field(default_factory=list)

    def feed(self, line: str, number: int, at: int) -> bool:
        """Look at a line; returns whether it speaks of the loss scale."""
        if "overflow" not in line.lower() and "loss scale" not in line:
            return False
        change, overflow = _CHANGE.search(line), _OVERFLOW.search(line) is not None
        if change is None and not overflow:
            return False
        iteration = _ITERATION.search(line)
        before = (change["a"] or change["b"]) if change else None
        falls = change is not None and "increasing" not in change[0].lower()
        if len(self._said) < _MOST:
            self._said.append(
                _Said(
                    at,
                    number,
                    strip_prefix(line).strip()[:LONGEST_TEXT],
                    overflow or falls,
                    int(iteration["n"]) if iteration else None,
                    to_float(before) if before else None,
                    to_float(change["to"]) if change else None,
                )
            )
        return True

    def finish(self, at: Ordinals, steps: Ordinals) -> tuple[list[Event], list[ScalePoint]]:
        """What happened, each change once, whoever and however often it was said.

        Args:
            at: Shape (n,), increasing: places of the lines that tell a step.
            steps: Shape (n,), those steps.
        """
        changes: list[_Change] = []
        for said in self._said:
            place = int(np.searchsorted(at, said.at))
            if changes and changes[-1].goes_on(said, place):
                changes[-1].merge(said)
            else:
                count = changes[-1].count if changes and changes[-1].place == place else 0
                changes.append(_Change(said, place, count + said.overflow, said.at))
        events: list[Event] = []
        points: list[ScalePoint] = []
        for change in changes:
            step = change.step(steps)
            said = change.said
            if said.overflow:
                events.append(Event(TextKind.OVERFLOW, said.text, said.line, said.at, step))
            if said.after is not None:
                points.append(ScalePoint(said.at, step, said.after))
        return events, points


@dataclass(eq=False)
class _Change:
    """One change of the loss scale, or one overflow that changed nothing."""

    said: _Said
    place: int
    """How many lines before it told a step."""
    count: int
    """The how-manieth overflow since then."""
    last_at: int

    def goes_on(self, said: _Said, place: int) -> bool:
        """Whether a line speaks of this change again, as several ranks do."""
        own = self.said
        if place != self.place or said.at - self.last_at > _SAME_BURST:
            return False
        if said.iteration is not None:
            return said.iteration == own.iteration
        if said.after is None or said.overflow != own.overflow:
            return False
        if own.after is None:
            return own.iteration is not None
        return said.after == own.after and said.before == own.before and said.before != said.after

    def merge(self, said: _Said) -> None:
        """Take over what the other line knows more."""
        self.last_at = said.at
        if self.said.after is None:
            self.said = replace(self.said, before=said.before, after=said.after)

    def step(self, steps: Ordinals) -> int:
        """The step: named, or counted from the last one logged, one overflow a step."""
        if self.said.iteration is not None:
            return self.said.iteration
        before = int(steps[self.place - 1]) if self.place else -1
        step = before + max(self.count, 1)
        return min(step, max(int(steps[self.place]), before)) if self.place < len(steps) else step
