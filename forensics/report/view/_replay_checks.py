"""The smaller measurements of a replay, one row each, with what the usual result would be."""

from collections.abc import Callable
from dataclasses import dataclass

from forensics.replay_facts import ReplayFacts
from forensics.replay_reading import Check, ReplayReading
from forensics.report.names import Tone
from forensics.report.view import _replayed_batches as batches
from forensics.report.view import _replayed_state as state
from forensics.report.view._replayed_batches import Said


@dataclass(frozen=True)
class CheckRow:
    """One measurement."""

    name: str
    found: str
    meaning: str
    """What it would be where nothing is wrong, and what this one says."""
    tone: Tone


def check_rows(facts: ReplayFacts, reading: ReplayReading) -> tuple[CheckRow, ...]:
    """Every measurement that was made."""
    rows = []
    for check, worded in _WORDED.items():
        said = worded(facts, check in reading.odd)
        if said is not None:
            rows.append(CheckRow(_NAMES[check], *said, _tone(facts, reading, check)))
    return tuple(rows)


def _tone(facts: ReplayFacts, reading: ReplayReading, check: Check) -> Tone:
    if check in reading.odd:
        return Tone.BAD
    audit = facts.audit
    unseen = audit is None or not any(a.checked for a in audit.suspects)
    return Tone.NEUTRAL if check is Check.CONTENTS and unseen else Tone.GOOD


_NAMES = {
    Check.LOAD: "What was loaded",
    Check.CONTENTS: "What the batch holds",
    Check.DETERMINISM: "Determinism",
    Check.LINE: "Line search",
    Check.MOMENTS: "Optimizer state against gradients",
    Check.SHIFTS: "Label shifts",
    Check.OVERFIT: "One batch alone",
    Check.MODES: "BatchNorm in both modes",
    Check.RANKS: "Across ranks",
}
_WORDED: dict[Check, Callable[[ReplayFacts, bool], Said]] = {
    Check.LOAD: state.load,
    Check.CONTENTS: batches.contents,
    Check.DETERMINISM: batches.determinism,
    Check.LINE: batches.line,
    Check.MOMENTS: state.moments,
    Check.SHIFTS: batches.shifts,
    Check.OVERFIT: batches.overfit,
    Check.MODES: state.modes,
    Check.RANKS: state.ranks,
}
