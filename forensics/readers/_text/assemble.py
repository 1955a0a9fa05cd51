"""Turns what was found into series, evidence, settings and notes."""

from collections.abc import Mapping, Sequence

import numpy as np

from forensics.readers._base import Reading
from forensics.readers._text.absent import Absent, absent_losses
from forensics.readers._text.attempts import all_headers, find_attempts, last_settings
from forensics.readers._text.axis import place
from forensics.readers._text.context import step_track
from forensics.readers._text.events import FIRST_KEPT, LAST_KEPT, Event, GuardPoint
from forensics.readers._text.headers import Header
from forensics.readers._text.layout import Kind
from forensics.readers._text.overflow import LOSS_SCALE_TAG, ScalePoint
from forensics.readers._text.placed import Placed, Track
from forensics.readers._text.repaints import new_points
from forensics.readers._text.series import (
    Points,
    build,
    points_absent,
    points_of,
    points_of_epochs,
    points_told,
)
from forensics.readers._text.slow import Slow
from forensics.readers._text.unnamed import with_names
from forensics.run import Axis, Note, Series, TextEvidence, TextKind
from forensics.signals import Signal, classify

_BORDERS = (TextKind.RUN_STARTED, TextKind.RESUMED)


def assemble(found: Slow, source: str) -> Reading:
    """Everything that was found, as one `Reading`."""
    tables = with_names(found.store.finish())
    events, counts = found.events.finish()
    headers = all_headers(found.headers.found, events)
    attempts = find_attempts(headers, events, [t.at for t in tables if t.layout.measures])
    settings, changes = last_settings(headers, attempts)
    placed, remarks = place(tables, settings)
    absent = absent_losses(placed)
    steps = step_track([p for p in placed if p.rows.layout.kind is not Kind.BAR] or placed)
    overflows, scales = found.overflows.finish(steps.at, steps.x.astype(np.int64))
    counts[TextKind.OVERFLOW] = len(overflows)
    events = _all_events(events, overflows, attempts)
    series = _series(placed, absent, events, source)
    series += build(_scale_points(scales), source)
    series += build(_guard_points(found.events.guards, steps, series), source)
    notes = [*changes, *remarks, *_absent_notes(absent), *_count_notes(counts)]
    return Reading(
        series,
        settings,
        _evidence(events, steps, source),
        tuple(Note(text, source) for text in notes),
        "" if series or events or settings else "text without metrics",
    )


def _all_events(
    events: Sequence[Event], overflows: Sequence[Event], attempts: Sequence[Header]
) -> list[Event]:
    """With what was found elsewhere, in the order of the file."""
    first, rest = overflows[:FIRST_KEPT], overflows[FIRST_KEPT:]
    every = [e for e in events if e.kind is not TextKind.RUN_STARTED]
    every += [*first, *rest[-LAST_KEPT:]]
    every += [Event(TextKind.RUN_STARTED, a.text, a.line, a.at) for a in attempts]
    return sorted(every, key=lambda event: (event.at, event.kind))


def _series(
    placed: Sequence[Placed], absent: Sequence[Absent], events: Sequence[Event], source: str
) -> tuple[Series, ...]:
    bars = [p for p in placed if p.rows.layout.kind is Kind.BAR and p.rows.layout.tags]
    points = [*points_of(placed), *points_told(new_points(bars)), *points_absent(absent)]
    if not any(classify(p.tag) is Signal.EPOCH for p in points):
        points += points_of_epochs(placed)
    borders = np.array([e.at for e in events if e.kind in _BORDERS], dtype=np.int64)
    return build(points, source, borders)


def _scale_points(scales: Sequence[ScalePoint]) -> list[Points]:
    """Loss scales that stood in sentences instead of being logged."""
    at = np.array([p.at for p in scales], dtype=np.int64)
    x = np.array([p.step for p in scales], dtype=np.int64)
    value = np.array([p.value for p in scales])
    return [Points(LOSS_SCALE_TAG, at, x, value, Axis.STEP, last_wins=True)]


def _guard_points(
    guards: Sequence[GuardPoint], steps: Track, series: Sequence[Series]
) -> list[Points]:
    """Gradient norms that a guard printed; under a tag of their own where they are logged, too."""
    at = np.array([g.at for g in guards], dtype=np.int64)
    before = np.nan_to_num(steps.before(at), nan=0.0).tolist()
    x = [int(b) if g.step is None else g.step for g, b in zip(guards, before, strict=True)]
    value = np.array([g.value for g in guards])
    logged = any(classify(s.tag) is Signal.GRAD_NORM for s in series)
    tag = "grad_norm (guard)" if logged else "grad_norm"
    return [Points(tag, at, np.array(x, dtype=np.int64), value, Axis.STEP)]


def _evidence(events: Sequence[Event], steps: Track, source: str) -> tuple[TextEvidence, ...]:
    before = steps.before(np.array([event.at for event in events], dtype=np.int64)).tolist()
    return tuple(
        TextEvidence(e.kind, e.text, source, e.line, _step(e, x))
        for e, x in zip(events, before, strict=True)
    )


def _step(event: Event, before: float) -> int | None:
    """The step that the line names, else the last one before it."""
    if event.step is not None:
        return event.step
    return None if np.isnan(before) else int(before)


def _absent_notes(absent: Sequence[Absent]) -> list[str]:
    lines = {int(place) for a in absent for place in a.at}
    if not lines:
        return []
    return [f"iteration lines without their loss: {len(lines)}; Megatron prints NaN that way"]


def _count_notes(counts: Mapping[TextKind, int]) -> list[str]:
    return [
        f"{count:,} lines of the kind {kind.value}, "
        f"of which the first {FIRST_KEPT} and the last {LAST_KEPT} are kept"
        for kind, count in sorted(counts.items())
        if count > FIRST_KEPT + LAST_KEPT
    ]
