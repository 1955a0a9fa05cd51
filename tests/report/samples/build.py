"""Short ways to write the values a verdict is made of."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath, PurePosixPath
from typing import Any, cast

import numpy as np

from forensics.case import Case
from forensics.findings import Evidence, Hypothesis, Judgement, Outcome, Status, Symptom
from forensics.run import Axis, Config, FileRecord, FoundCheckpoint, Run, Series, TextEvidence
from forensics.signals import Signal
from forensics.timeline import Attempt, Resume, Timeline, Track
from forensics.verdict import CheckpointState, CheckpointVerdict, Cost, Recommendation, Verdict

START = 1_750_000_000.0


def track(signal: Signal, step: Any, value: Any, tag: str = "", source: str = "log.csv") -> Track:
    """A track with one wall-clock second a step."""
    step = np.asarray(step, np.int64)
    value = np.asarray(value, np.float64)
    return Track(signal, tag or signal.value, source, step, value, START + step.astype(float))


def timeline(
    tracks: Iterable[Track],
    *,
    attempts: tuple[Attempt, ...] = (),
    resumes: tuple[Resume, ...] = (),
    superseded: tuple[Track, ...] = (),
    axis: Axis = Axis.STEP,
) -> Timeline:
    """The timeline of these tracks; the first one gives the log interval."""
    known = {t.signal: t for t in tracks}
    steps = [t.step for t in known.values() if len(t)]
    return Timeline(
        tracks=known,
        attempts=attempts,
        resumes=resumes,
        superseded=superseded,
        first_step=int(min((s[0] for s in steps), default=0)),
        last_step=int(max((s[-1] for s in steps), default=0)),
        interval=next((t.interval for t in known.values()), 1.0),
        axis=axis,
    )


def run(
    path: str | PurePath,
    line: Timeline,
    config: Config,
    files: tuple[FileRecord, ...],
    checkpoints: tuple[FoundCheckpoint, ...] = (),
    text: tuple[TextEvidence, ...] = (),
    name: str = "",
) -> Run:
    """The run whose series are the tracks as they were logged."""
    series = tuple(
        Series(t.tag, t.step, t.value, t.source, t.wall_time) for t in line.tracks.values()
    )
    where = PurePosixPath(path) if isinstance(path, str) else path
    return Run(cast(Any, where), name, series, config, checkpoints, (), text, files)


def found(path: str, step: int | None, size: int = 988_097_824) -> FoundCheckpoint:
    """A checkpoint folder."""
    return FoundCheckpoint(path, step, size, START + (step or 0))


def judged(
    path: str, step: int | None, state: CheckpointState, reason: str, bad: tuple[str, ...] = ()
) -> CheckpointVerdict:
    """A checkpoint's verdict; scanned unless the state says otherwise."""
    scanned = state not in (CheckpointState.NOT_SCANNED, CheckpointState.UNREADABLE)
    return CheckpointVerdict(path, step, scanned, not bad if scanned else None, bad, state, reason)


def seen(
    text: str, weight: float, source: str = "logs", steps: tuple[int, ...] = (), clue: str = "clue"
) -> Evidence:
    """One piece of evidence; a negative weight speaks against."""
    return Evidence(text, weight > 0, weight, source, clue, steps)


def hypothesis(
    rank: int,
    cause: str,
    title: str,
    probability: float,
    evidence: tuple[Evidence, ...] = (),
    *,
    family: str = "optimisation",
    status: Status | None = None,
    missing: tuple[str, ...] = (),
    verify: str = "",
    fix: tuple[str, ...] = (),
    **more: Any,
) -> Hypothesis:
    """A hypothesis whose status follows from its probability."""
    settled = Status.LIKELY if probability >= 0.5 else Status.POSSIBLE
    settled = settled if probability >= 0.02 else Status.RULED_OUT
    return Hypothesis(
        rank,
        cause,
        title,
        family,
        probability,
        status or settled,
        evidence,
        missing,
        verify,
        fix,
        **more,
    )


def ruled_out(first_rank: int, against: Mapping[str, tuple[str, float]]) -> tuple[Hypothesis, ...]:
    """Causes with one piece of counter-evidence each: title -> (text, weight)."""
    return tuple(
        hypothesis(
            place,
            title.lower().replace(" ", "_"),
            title,
            0.012 / place,
            (seen(text, weight),),
            verify="Nothing to test.",
        )
        for place, (title, (text, weight)) in enumerate(against.items(), start=first_rank)
    )


def verdict(case: Case, sentence: str, **parts: Any) -> Verdict:
    """A verdict in which everything not given is empty."""
    defaults: dict[str, Any] = {
        "hypotheses": (),
        "unexplained": 0.02,
        "checkpoints": (),
        "last_healthy": None,
        "first_bad": None,
        "recommendation": Recommendation(None, None, "", (), ()),
        "checklist": (),
        "pilot": (),
        "monitors": (),
        "cost": Cost(None, None, None),
        "other_runs": (),
        "warnings": (),
    }
    return Verdict(case, sentence, **(defaults | parts))


def judgement(
    outcome: Outcome, symptom: Symptom, reason: str, onset: int | None = None, **more: Any
) -> Judgement:
    """A judgement; ``after_step``, ``first_mover`` and ``decisive`` by name."""
    rest = {"after_step": None, "first_mover": None} | more
    return Judgement(outcome, symptom, onset, reason=reason, **rest)
