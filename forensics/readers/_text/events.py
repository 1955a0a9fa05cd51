"""Finds the lines that prove something: tracebacks, kills, guards, resumes, endings."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from forensics.readers._text.course_rules import COURSE_RULES
from forensics.readers._text.crash_rules import CRASH_RULES
from forensics.readers._text.masks import strip_prefix
from forensics.readers._text.numerals import NUMBER, to_float
from forensics.readers._text.numeric_rules import NUMERIC_RULES
from forensics.readers._text.rule import Rule, stated_step
from forensics.run import TextKind

RULES: tuple[Rule, ...] = (*CRASH_RULES, *NUMERIC_RULES, *COURSE_RULES)
LONGEST_TEXT = 400
FIRST_KEPT, LAST_KEPT = 40, 10  # of one kind, this many are kept from either end

_TRACEBACK = "Traceback (most recent call last)"
_EXCEPTION = re.compile(
    r"^(?P<name>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failure|Timeout|Died|Exhausted)\w*"
    r"|(?:[A-Za-z_]\w*\.)+[A-Z]\w*)(?::\s|:?$)"
)
_OWNER = re.compile(r"^\s*\[?(?:rank|default)\d+\]?:?|^\s*\[\d+,\d+\]<std\w+>:?|^\d{1,4}:(?=\s)")
_LONGEST_LINE = 4096
_SEARCH_LINES = 2000  # lines after which a traceback without an end is given up
_NORMS = re.compile(
    rf"(?i:\b(?:total_|global_)?grad(?:ient)?s?[_ ]?norms?\s*[:=]?\s*\[?\s*(?:is\s+)?)({NUMBER})"
)
_NAMED = {TextKind.INTERRUPTED, TextKind.CHECKPOINT_SAVED}


@dataclass(frozen=True)
class Event:
    """A line that proves something, before it is known which step it belongs to."""

    kind: TextKind
    text: str
    line: int
    at: int
    """The how-manieth line of the file, repaints counted."""
    step: int | None = None
    """Where the line itself names it."""


@dataclass(frozen=True)
class GuardPoint:
    """A gradient norm that a guard printed instead of logging it."""

    at: int
    step: int | None
    value: float


@dataclass(eq=False)
class _Kept:
    """The first and the last events of one kind, and how many there were."""

    first: list[Event] = field(default_factory=list)
    last: list[Event] = field(default_factory=list)
    count: int = 0

    def add(self, event: Event) -> None:
        self.count += 1
        if len(self.first) < FIRST_KEPT:
            self.first.append(event)
        else:
            self.last = [*self.last[-LAST_KEPT + 1 :], event]


@dataclass(eq=False)
class Events:
    """Collects events while the file streams by."""

    guards: list[GuardPoint] = field(default_factory=list)
    _rules: Sequence[Rule] = RULES
    _kept: dict[TextKind, _Kept] = field(default_factory=dict)
    _open: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Owner (rank) of each traceback that has not ended: its line and place."""
    _recent: dict[tuple[TextKind, str], int] = field(default_factory=dict)

    @property
    def in_traceback(self) -> bool:
        """Whether a traceback has begun that has not ended."""
        return bool(self._open)

    def expect(self, text: str) -> None:
        """Look at the lines to come as a whole: most rules need not be asked about any of them."""
        lowered = text.lower()
        self._rules = [rule for rule in RULES if any(word in lowered for word in rule.words)]

    def feed(self, line: str, number: int, at: int) -> frozenset[TextKind]:
        """Look at a line; returns the kinds that it proves."""
        line = line[:_LONGEST_LINE]
        lowered = line.lower()
        kinds = {
            rule.kind
            for rule in self._rules
            if any(word in lowered for word in rule.words) and rule.holds(line)
        }
        if TextKind.NON_FINITE_GUARD in kinds and TextKind.NON_FINITE_ABORT in kinds:
            kinds.discard(TextKind.NON_FINITE_GUARD)
        step = stated_step(line) if kinds else None
        if TextKind.NON_FINITE_GUARD in kinds:
            self._guard(line, at, step)
        if self._open or _begins_traceback(line):
            self._trace(line, number, at, kinds)
        for kind in kinds:
            self.add(Event(kind, _shown(line), number, at, step))
        return frozenset(kinds)

    def add(self, event: Event) -> None:
        """Keep an event, unless another rank has just said the same."""
        last = self._recent.get((event.kind, event.text))
        self._recent[event.kind, event.text] = event.at
        if len(self._recent) > 4096:
            self._recent.clear()
        if last is None or event.at - last > 256 or event.kind in _NAMED:
            self._kept.setdefault(event.kind, _Kept()).add(event)

    def finish(self) -> tuple[list[Event], dict[TextKind, int]]:
        """The events kept, in the order of the file, and how many of each kind there were."""
        for number, at in self._open.values():
            self.add(Event(TextKind.TRACEBACK, _TRACEBACK, number, at))
        self._open.clear()
        events = [event for kept in self._kept.values() for event in (*kept.first, *kept.last)]
        counts = {kind: kept.count for kind, kept in self._kept.items()}
        return sorted(events, key=lambda event: (event.at, event.kind)), counts

    def _trace(self, line: str, number: int, at: int, kinds: Iterable[TextKind]) -> None:
        owner = match[0].strip() if (match := _OWNER.match(line)) else ""
        if _begins_traceback(line):
            self._open[owner] = (number, at)
            return
        start = self._open.get(owner)
        if start is None:
            return
        body = line[match.end() :].removeprefix(" ") if match else line
        if _EXCEPTION.match(body) or _EXCEPTION.match(strip_prefix(line)):
            del self._open[owner]
            if TextKind.INTERRUPTED not in kinds and not body.startswith("SystemExit"):
                self.add(Event(TextKind.TRACEBACK, _shown(line), number, at))
        elif at - start[1] > _SEARCH_LINES:
            del self._open[owner]
            self.add(Event(TextKind.TRACEBACK, _TRACEBACK, *start))

    def _guard(self, line: str, at: int, step: int | None) -> None:
        match = _NORMS.search(line)
        if match is not None and len(self.guards) < 100_000:
            self.guards.append(GuardPoint(at, step, to_float(match[1])))


def _begins_traceback(line: str) -> bool:
    """Whether a traceback begins here; one that is indented is an example in some text."""
    before, found, _ = _OWNER.sub("", line).partition(_TRACEBACK)
    return bool(found) and (not before.isspace() or before == " ")


def _shown(line: str) -> str:
    """A line as evidence: without the name of the rank, and not too long."""
    return _OWNER.sub("", line).strip()[:LONGEST_TEXT]
