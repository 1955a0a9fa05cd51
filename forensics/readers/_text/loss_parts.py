"""Reads the losses that a guard prints before it stops: which of them was no number.

``loss_dict = {'loss_cls': 1.82, 'loss_box_reg': inf}`` stands below the line that says why, and
that line tells the step, if any does.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from forensics.readers._text.blocks import BlockRow
from forensics.readers._text.counters import Role
from forensics.readers._text.layout import Column, Kind, Layout
from forensics.readers._text.numerals import NUMBER
from forensics.readers._text.rule import stated_step
from forensics.run import TextKind
from forensics.signals import Signal, classify

_GUARDS = frozenset({TextKind.NON_FINITE_ABORT, TextKind.NON_FINITE_GUARD})
_LINES_BELOW = 3
_PART = re.compile(
    rf"['\"](?P<name>[A-Za-z][\w/. -]{{0,60}})['\"]\s*:\s*(?:(?:tensor|array)\(\s*)?\[?\s*"
    rf"(?P<number>{NUMBER})(?=[\s,)\]}}])"
)
_LOSSES = (Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH, Signal.LOSS_COMPONENT)


@dataclass(eq=False)
class LossParts:
    """Waits, below a guard's words, for the losses."""

    _left: int = 0
    _step: int | None = None

    @property
    def expected(self) -> bool:
        """Whether the next line may hold them."""
        return self._left > 0

    def feed(self, line: str, kinds: Iterable[TextKind]) -> BlockRow | None:
        """Look at a line, and at what it proves; returns the losses that it tells."""
        self._left = max(0, self._left - 1)
        if not _GUARDS.isdisjoint(kinds):
            self._left, self._step = _LINES_BELOW, stated_step(line)
        row = _row(line, self._step) if self._left and "{" in line else None
        if row is not None:
            self._left = 0
        return row


def _row(line: str, step: int | None) -> BlockRow | None:
    found = {match["name"]: match["number"] for match in _PART.finditer(line)}
    found = {name: number for name, number in found.items() if classify(name) in _LOSSES}
    if not found:
        return None
    columns = [Column(name, Role.VALUE) for name in found]
    texts = list(found.values())
    if step is not None:
        columns.insert(0, Column("step", Role.GLOBAL))
        texts.insert(0, str(step))
    return BlockRow(Layout(Kind.LINE, tuple(columns)), tuple(texts))
