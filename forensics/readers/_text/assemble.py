"""Turns what was read into series, evidence, settings and notes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from forensics.readers._base import Reading
from forensics.readers._text.absent import absent_losses
from forensics.readers._text.axis import place
from forensics.readers._text.context import step_track
from forensics.readers._text.events import Event
from forensics.readers._text.headers import Header
from forensics.readers._text.layout import Kind
from forensics.readers._text.overflow import LOSS_SCALE_TAG, ScalePoint
from forensics.readers._text.placed import Track
from forensics.readers._text.repaints import new_points
from forensics.readers._text.rows import Ordinals
from forensics.readers._text.series import Points, build, points_absent, points_of, points_told
from forensics.readers._text.slow import Slow
from forensics.run import Axis, Note, Series, TextEvidence, TextKind
from forensics.signals import Signal, classify

_FATAL = {
    TextKind.TRACEBACK,
    TextKind.KILLED,
    TextKind.TIME_LIMIT,
    TextKind.RUN_FINISHED,
    TextKind.LOST_PEER,
}
_MOST_NAMED = 8


def assemble(found: Slow, source: str) -> Reading:
    """Everything that was found, as one `Reading`."""
    tables = found.store.finish()
    events, counts = found.events.finish()
    headers = _headers(found, events)
    attempts = _attempts(headers, events, [t.at for t in tables if t.layout.measures])
    settings, notes = _settings(headers, attempts)
    placed, texts = place(tables, settings)
    notes += texts
    steps = step_track([p for p in placed if p.rows.layout.kind is not Kind.BAR] or placed)
    absent = absent_losses(placed)
    if absent:
        n = sum(len(a.at) for a in absent if a.tag == absent[0].tag)
        notes.append(f"{n} iteration lines lack their loss, which is how Megatron prints NaN")
    overflowed, scales = found.overflows.finish(steps.at, steps.x.astype(np.int64))
    events += overflowed[:_KEPT] + overflowed[_KEPT:][-10:]
    counts[TextKind.OVERFLOW] = counts.get(TextKind.OVERFLOW, 0) + len(overflowed)
    events = [e for e in events if e.kind is not TextKind.RUN_STARTED]
    events += [Event(TextKind.RUN_STARTED, a.text, a.line, a.at) for a in attempts]
    borders = sorted({e.at for e in events if e.kind in (TextKind.RUN_STARTED, TextKind.RESUMED)})
    bars = [p for p in placed if p.rows.layout.kind is Kind.BAR and p.rows.layout.tags]
    points = [
        *points_of(placed),
        *points_told(new_points(bars)),
        *points_absent(absent),
    ]
    series = build(points, source, np.array(borders, dtype=np.int64))
    series += _extra(found, scales, steps, series, source)
    notes += _count_notes(counts)
    return Reading(
        series,
        settings,
        _evidence(events, steps, source),
        tuple(Note(text, source) for text in notes),
        "" if series or events or settings else "text without metrics",
    )


_KEPT = 40


def _headers(found: Slow, events: Sequence[Event]) -> list[Header]:
    """Argument dumps, and lines that say that training starts."""
    said = [e for e in events if e.kind is TextKind.RUN_STARTED]
    headers = [*found.headers.found, *(Header(e.at, e.line, e.text, {}, opens=True) for e in said)]
    return sorted(headers, key=lambda header: header.at)


def _attempts(
    headers: Sequence[Header], events: Sequence[Event], rows: Sequence[Ordinals]
) -> list[Header]:
    """The headers that open an attempt: those with rows or an end between them and the last."""
    ends = np.array([e.at for e in events if e.kind in _FATAL], dtype=np.int64)
    marks = np.sort(np.concatenate([*rows, ends]))
    attempts: list[Header] = []
    last = -1
    for header in headers:
        if not header.opens:
            continue
        between = np.searchsorted(marks, header.at) - np.searchsorted(marks, last)
        if last < 0 or between:
            attempts.append(header)
        last = header.at
    return attempts


def _settings(
    headers: Sequence[Header], attempts: Sequence[Header]
) -> tuple[dict[str, Any], list[str]]:
    """The settings of the last attempt upon those before, and what changed between attempts."""
    settings: dict[str, Any] = {}
    changed: dict[str, None] = {}
    starts = [attempt.at for attempt in attempts]
    written: dict[str, int] = {}
    for header in headers:
        attempt = int(np.searchsorted(starts, header.at, side="right"))
        for key, value in header.settings.items():
            if written.get(key, attempt) < attempt and settings[key] != value:
                changed[key] = None
            settings[key], written[key] = value, attempt
    if not changed:
        return settings, []
    names = ", ".join(list(changed)[:_MOST_NAMED]) + (", …" if len(changed) > _MOST_NAMED else "")
    return settings, [f"settings differ between attempts, those of the last are kept: {names}"]


def _evidence(events: Sequence[Event], steps: Track, source: str) -> tuple[TextEvidence, ...]:
    ordered = sorted(events, key=lambda event: (event.at, event.kind))
    before = steps.before(np.array([event.at for event in ordered], dtype=np.int64))
    return tuple(
        TextEvidence(e.kind, e.text, source, e.line, e.step if e.step is not None else _whole(x))
        for e, x in zip(ordered, before.tolist(), strict=True)
    )


def _whole(x: float) -> int | None:
    return None if x != x else int(x)


def _extra(
    found: Slow,
    scales: Sequence[ScalePoint],
    steps: Track,
    series: Sequence[Series],
    source: str,
) -> tuple[Series, ...]:
    """Loss scales and gradient norms that stood in sentences instead of being logged."""
    extra: list[Points] = []
    if scales:
        extra.append(
            Points(
                LOSS_SCALE_TAG,
                np.array([p.at for p in scales], dtype=np.int64),
                np.array([p.step for p in scales], dtype=np.int64),
                np.array([p.value for p in scales]),
                Axis.STEP,
                last_wins=True,
            )
        )
    guards = found.events.guards
    if guards:
        at = np.array([g.at for g in guards], dtype=np.int64)
        before = np.nan_to_num(steps.before(at), nan=0.0)
        x = [g.step if g.step is not None else int(b) for g, b in zip(guards, before, strict=True)]
        values = np.array([g.value for g in guards])
        logged = any(classify(s.tag) is Signal.GRAD_NORM for s in series)
        tag = "grad_norm (guard)" if logged else "grad_norm"
        extra.append(Points(tag, at, np.array(x, dtype=np.int64), values, Axis.STEP))
    return build(extra, source, np.empty(0, np.int64))


def _count_notes(counts: Mapping[TextKind, int]) -> list[str]:
    return [
        f"{count:,} lines of the kind {kind.value}, of which the first 40 and the last 10 are kept"
        for kind, count in sorted(counts.items())
        if count > _KEPT + 10
    ]
