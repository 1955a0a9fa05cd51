"""Small `Case` objects for the tests of the causes: say what was logged and how it ended.

``make_case(loss=[...], lr=[...], outcome=Outcome.DIVERGED, onset=40)`` builds a run of one log
file. What is not given was not logged. Episodes are given, never detected: the tests of the causes
must not depend on the detectors.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forensics.case import Case
from forensics.findings import (
    ClipFacts,
    Ending,
    Episode,
    EpisodeKind,
    Judgement,
    LearningRateFacts,
    Outcome,
    Severity,
    Symptom,
)
from forensics.run import Axis, Config, Run, Series, TextEvidence, TextKind
from forensics.signals import Signal
from forensics.timeline import Attempt, Resume, Timeline, Track

Numbers = Sequence[float] | np.ndarray
_SYMPTOM = {
    Outcome.HEALTHY: Symptom.NONE,
    Outcome.SPIKED_RECOVERED: Symptom.SINGLE_SPIKE_RECOVERS,
    Outcome.SPIKED_UNRECOVERED: Symptom.SPIKE_NEVER_RECOVERS,
    Outcome.DIVERGED: Symptom.SPIKE_NEVER_RECOVERS,
    Outcome.NON_FINITE: Symptom.LATE_NON_FINITE,
    Outcome.STALLED: Symptom.NO_PROGRESS,
    Outcome.OVERFIT: Symptom.VALIDATION_ONLY,
    Outcome.VALIDATION_FAILED: Symptom.VALIDATION_ONLY,
    Outcome.CRASHED: Symptom.CRASH,
    Outcome.UNKNOWN: Symptom.NONE,
}


def make_case(
    loss: Numbers | None = None,
    grad_norm: Numbers | None = None,
    lr: Numbers | None = None,
    eval_loss: Numbers | None = None,
    *,
    tracks: Mapping[Signal, Numbers] | None = None,
    others: Iterable[Track] = (),
    steps: Sequence[int] | None = None,
    first_step: int = 1,
    interval: int = 1,
    config: Config | None = None,
    episodes: Iterable[Episode] = (),
    outcome: Outcome = Outcome.HEALTHY,
    symptom: Symptom | None = None,
    onset: int | None = None,
    first_mover: Signal | None = None,
    text: Iterable[TextKind | TextEvidence] = (),
    resumes: Iterable[int | Resume] = (),
    superseded: Iterable[Track] = (),
    lr_facts: LearningRateFacts | None = None,
    clip: ClipFacts | None = None,
    skipped: Iterable[str] = (),
    axis: Axis = Axis.STEP,
    batches: Sequence[str] = (),
) -> Case:
    """Build a case; quantities are one value a logged point, ``interval`` steps apart.

    A shorter quantity (``eval_loss`` of 5 values beside 100 losses) is spread over the same steps.
    """
    resumes = tuple(resumes)
    given: dict[Signal, Numbers | None] = {
        Signal.TRAIN_LOSS: loss,
        Signal.GRAD_NORM: grad_norm,
        Signal.LR: lr,
        Signal.EVAL_LOSS: eval_loss,
        **(tracks or {}),
    }
    logged = {s: np.asarray(v, dtype=np.float64) for s, v in given.items() if v is not None}
    length = max((len(v) for v in logged.values()), default=0)
    grid = np.asarray(steps if steps is not None else first_step + interval * np.arange(length))
    found = {s: make_track(s, _spread(grid, len(v)), v, axis=axis) for s, v in logged.items()}
    config = config or Config()
    run = Run(
        path=Path("run"),
        series=tuple(Series(t.tag, t.step, t.value, t.source) for t in found.values()),
        config=config,
        batches=tuple(batches),
        text=tuple(_line(t) for t in text),
    )
    timeline = Timeline(
        tracks=found,
        others=tuple(others),
        attempts=_attempts(grid, resumes),
        resumes=tuple(_resume(r, i) for i, r in enumerate(resumes, start=1)),
        superseded=tuple(superseded),
        first_step=int(grid[0]) if len(grid) else 0,
        last_step=int(grid[-1]) if len(grid) else 0,
        interval=float(interval),
        axis=axis,
    )
    return Case(
        run=run,
        timeline=timeline,
        episodes=tuple(sorted(episodes, key=lambda e: e.onset_step)),
        judgement=Judgement(
            outcome=outcome,
            symptom=symptom or _SYMPTOM[outcome],
            onset_step=onset,
            after_step=None if onset is None else onset - interval,
            first_mover=first_mover,
            reason="Built for a test.",
        ),
        lr=lr_facts or _lr_facts(found.get(Signal.LR)),
        clip=clip or _clip_facts(found.get(Signal.GRAD_NORM), config, onset),
        skipped=tuple(skipped),
    )


def make_track(
    signal: Signal, steps: Sequence[int] | np.ndarray, values: Numbers, **extra: Any
) -> Track:
    """One quantity, its tag being its canonical name unless ``tag`` is given."""
    return Track(
        signal=signal,
        tag=extra.pop("tag", signal.value),
        source=extra.pop("source", "log.csv"),
        step=np.asarray(steps, dtype=np.int64),
        value=np.asarray(values, dtype=np.float64),
        **extra,
    )


def make_episode(
    kind: EpisodeKind,
    onset: int,
    /,
    *,
    signal: Signal = Signal.TRAIN_LOSS,
    severity: Severity = Severity.FAILURE,
    ending: Ending = Ending.PERSISTED,
    peak: int | None = None,
    peak_value: float | None = None,
    recovery: int | None = None,
    baseline: float | None = None,
    height: float | None = None,
    first_mover: Signal | None = None,
    first_mover_step: int | None = None,
    **details: Any,
) -> Episode:
    """One episode; what is left over becomes its ``details``."""
    return Episode(
        kind=kind,
        signal=signal,
        onset_step=onset,
        severity=severity,
        ending=ending,
        after_step=onset - 1,
        peak_step=peak,
        peak_value=peak_value,
        recovery_step=recovery,
        baseline=baseline,
        height=height,
        first_mover=first_mover,
        first_mover_step=first_mover_step,
        details=details,
    )


def healthy_case(points: int = 300, **more: Any) -> Case:
    """A run that trained as it should: loss, gradient norm, warm-up, cosine decay, validation."""
    rng = np.random.default_rng(0)
    t = np.arange(points) / points
    falling = 2.0 + 4.0 * np.exp(-6 * t)
    settings: dict[str, Any] = {
        "loss": falling + 0.02 * rng.standard_normal(points),
        "grad_norm": 0.6 + 0.05 * rng.standard_normal(points),
        "lr": 3e-4
        * np.minimum(1, (t * points + 1) / (0.05 * points))
        * (0.55 + 0.45 * np.cos(np.pi * t)),
        "eval_loss": falling[:: max(points // 6, 1)] + 0.03,
        "config": Config(
            optimizer="adamw", precision="bf16", clip_threshold=1.0, total_steps=points
        ),
    }
    return make_case(**(settings | more))


def _spread(grid: np.ndarray, count: int) -> np.ndarray:
    if count == len(grid):
        return grid
    return grid[np.linspace(0, len(grid) - 1, count).astype(int)]


def _line(given: TextKind | TextEvidence) -> TextEvidence:
    return (
        TextEvidence(given, given.value.replace("_", " "), "train.log", 1)
        if isinstance(given, TextKind)
        else given
    )


def _resume(given: int | Resume, attempt: int) -> Resume:
    return Resume(given, None, attempt) if isinstance(given, int) else given


def _attempts(grid: np.ndarray, resumes: Iterable[int | Resume]) -> tuple[Attempt, ...]:
    if not len(grid):
        return ()
    starts = [int(grid[0]), *(r if isinstance(r, int) else r.step for r in resumes)]
    ends = [*(s - 1 for s in starts[1:]), int(grid[-1])]
    return tuple(
        Attempt(i, a, b, "log.csv") for i, (a, b) in enumerate(zip(starts, ends, strict=True))
    )


def _lr_facts(track: Track | None) -> LearningRateFacts | None:
    """The facts of a clean schedule, without the care that the detector takes."""
    if track is None or not track.finite.any():
        return None
    steps, values = track.step[track.finite], track.value[track.finite]
    peak = float(values.max())
    at_peak = int(np.argmax(values >= 0.99 * peak))
    previous, later = values[:-1], values[1:]
    zero = np.flatnonzero(values != 0)
    rises = np.flatnonzero((later > 1.5 * previous) & (np.arange(1, len(values)) > at_peak)) + 1
    falls = np.flatnonzero(later < 0.66 * previous) + 1
    last_live = int(zero[-1]) if len(zero) else -1
    return LearningRateFacts(
        peak=peak,
        peak_step=int(steps[np.argmax(values)]),
        first=float(values[0]),
        last=float(values[-1]),
        warmup_steps=int(steps[at_peak] - steps[0]),
        constant=bool(np.ptp(values) <= 1e-9 * max(peak, 1e-300)),
        zero_from=int(steps[last_live + 1]) if last_live + 1 < len(steps) else None,
        jumps=tuple(int(steps[i]) for i in rises),
        drops=tuple(int(steps[i]) for i in falls),
    )


def _clip_facts(track: Track | None, config: Config, onset: int | None) -> ClipFacts | None:
    if track is None or not config.clip_threshold or not len(track):
        return None
    before = track.value[track.step < onset] if onset is not None else track.value
    if len(before) < 5:  # as the detector has it: too few to mean anything
        before = track.value
    above = before > config.clip_threshold
    recent = above[-max(len(above) // 10, 1) :]
    share = [float(part.mean()) if len(part) else 0.0 for part in (above, recent)]
    return ClipFacts(config.clip_threshold, share[0], share[1])
