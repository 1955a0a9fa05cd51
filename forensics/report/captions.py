"""What stands under a figure: the key to its marks, and what could not be drawn."""

from dataclasses import dataclass

import numpy as np

from forensics.findings import Outcome
from forensics.report import names
from forensics.report.names import Tone
from forensics.report.wording import at, listing, sentence_case
from forensics.signals import Signal
from forensics.verdict import CheckpointState, Verdict

_GLYPHS = {
    CheckpointState.HEALTHY: "●",
    CheckpointState.SUSPECT: "◇",
    CheckpointState.POISONED: "✖",
    CheckpointState.UNREADABLE: "□",
    CheckpointState.NOT_SCANNED: "○",
}
_BASE = (Signal.TRAIN_LOSS, Signal.EVAL_LOSS, Signal.GRAD_NORM, Signal.LR)


@dataclass(frozen=True)
class KeyItem:
    """One mark and what it stands for."""

    glyph: str
    tone: Tone
    text: str


@dataclass(frozen=True)
class Caption:
    """The words around a figure."""

    title: str
    """Read aloud in place of the figure."""
    key: tuple[KeyItem, ...]
    notes: tuple[str, ...]
    zoom: str
    """What the second figure shows."""


def caption(verdict: Verdict, drawn: tuple[Signal, ...], dense: int) -> Caption:
    """Word the caption of the whole timeline.

    Args:
        verdict: What is drawn.
        drawn: The quantities the figure shows.
        dense: Most points that share one pixel column, 1 where every point is drawn.
    """
    case = verdict.case
    line, onset = case.timeline, case.judgement.onset_step
    shown = listing([names.signal(signal) for signal in drawn]) or "nothing"
    marked = "" if onset is None else f"; the onset is at {at(onset, line.axis)}"
    span = f"from {at(line.first_step, line.axis)} to {line.last_step:,}"
    return Caption(
        f"Timeline of {shown} {span}{marked}.",
        _key(verdict),
        _notes(verdict, dense),
        _zoom(verdict),
    )


def _key(verdict: Verdict) -> tuple[KeyItem, ...]:
    judgement, line = verdict.case.judgement, verdict.case.timeline
    items = []
    if judgement.onset_step is not None and judgement.outcome is not Outcome.HEALTHY:
        items.append(KeyItem("│", Tone.BAD, "onset"))
    values = [track.value for track in line.tracks.values()]
    if any(np.isnan(v).any() for v in values):
        items.append(KeyItem("✕", Tone.BAD, "NaN"))
    if any(np.isinf(v).any() for v in values):
        items.append(KeyItem("▲", Tone.BAD, "infinite"))
    if line.superseded:
        items.append(KeyItem("┄", Tone.NEUTRAL, "replaced by a resume"))
    present = {c.state for c in verdict.checkpoints if c.step is not None}
    for state in (s for s in CheckpointState if s in present):
        word, tone = names.checkpoint(state)
        items.append(KeyItem(_GLYPHS[state], tone, f"{word} checkpoint"))
    return tuple(items)


def _zoom(verdict: Verdict) -> str:
    judgement, axis = verdict.case.judgement, verdict.case.timeline.axis
    onset, after = judgement.onset_step, judgement.after_step
    if onset is None or after is None or onset - after < 2:
        return "The same quantities, around the onset alone."
    last = f"between {at(after, axis)}, the last normal point, and {at(onset, axis)}"
    return f"The same quantities, around the onset alone; it lies in the shaded stretch {last}."


def _notes(verdict: Verdict, dense: int) -> tuple[str, ...]:
    missing = [names.signal(s) for s in _BASE if verdict.case.track(s) is None]
    notes = []
    if dense > 1:
        notes.append(
            f"Up to {dense:,} points share a pixel: the band runs from their lowest to their"
            " highest, the line is their median."
        )
    if missing:
        verb = "was" if len(missing) == 1 else "were"
        notes.append(f"{sentence_case(listing(missing))} {verb} not logged.")
    return tuple(notes)
