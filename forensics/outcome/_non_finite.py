"""Non-finite outcomes: seen in the log, hidden by the logger, or said by the framework."""

from collections.abc import Sequence

from forensics.findings import (
    Ending,
    Episode,
    EpisodeKind,
    Judgement,
    Outcome,
    Severity,
    Symptom,
)
from forensics.outcome._chain import judgement
from forensics.phrasing import at_step
from forensics.run import Axis, TextEvidence, TextKind
from forensics.signals import Signal
from forensics.timeline import Timeline

ABORTS = (TextKind.NON_FINITE_ABORT, TextKind.LOSS_SCALE_MINIMUM)


def non_finite(
    timeline: Timeline, episodes: Sequence[Episode], text: Sequence[TextEvidence]
) -> Judgement | None:
    lost = [
        e
        for e in episodes
        if e.kind in (EpisodeKind.NON_FINITE, EpisodeKind.HIDDEN_NON_FINITE)
        and e.severity is Severity.FAILURE
        and e.signal is not Signal.EVAL_LOSS
    ]
    abort = next((t for t in text if t.kind in ABORTS), None)
    guarded = _ended_in_guard(timeline, episodes, text)
    decisive = min(lost, key=lambda e: e.onset_step, default=None) or guarded
    if decisive is None and abort is None:
        return None
    if decisive is None and abort is not None:
        step = abort.step if abort.step is not None else timeline.last_step
        early = step <= timeline.first_step + 1 and _begins_with_the_run(timeline)
        reason = f"the framework stopped it at {at_step(step)}: {abort.text}"
        symptom, collapse = _finite_symptom(early), _never_regained(episodes, step)
        began = step if collapse is None else collapse.onset_step
        return judgement(Outcome.NON_FINITE, symptom, episodes, collapse, began, reason)
    assert decisive is not None
    early = bool(decisive.details.get("at_start")) and _begins_with_the_run(timeline)
    return judgement(
        Outcome.NON_FINITE,
        _finite_symptom(early),
        episodes,
        decisive,
        decisive.onset_step,
        _non_finite_reason(decisive),
    )


def _never_regained(episodes: Sequence[Episode], step: int) -> Episode | None:
    """The collapse of the loss scale that went on until the framework stopped the run."""
    return next(
        (
            e
            for e in episodes
            if e.kind is EpisodeKind.LOSS_SCALE_COLLAPSE
            and e.ending is Ending.PERSISTED
            and e.onset_step <= step
        ),
        None,
    )


def _begins_with_the_run(timeline: Timeline) -> bool:
    """False for a log that was cut out of the middle: its first line is no first step."""
    return timeline.axis is not Axis.STEP or timeline.first_step <= max(10, 2 * timeline.interval)


def _finite_symptom(early: bool) -> Symptom:
    return Symptom.FIRST_STEP_NON_FINITE if early else Symptom.LATE_NON_FINITE


def _non_finite_reason(episode: Episode) -> str:
    if episode.kind is EpisodeKind.HIDDEN_NON_FINITE:
        shown = episode.details.get("shown")
        seen = "the gradient norm" if episode.signal is Signal.GRAD_NORM else "the loss"
        return (
            f"{seen} gives away a non-finite run from {at_step(episode.onset_step)} on, "
            f"although the log shows a loss of {shown:.4g}"
            if shown is not None
            else f"{seen} gives away a non-finite run from {at_step(episode.onset_step)} on"
        )
    word = "infinite" if episode.details.get("kind") == "inf" else "NaN"
    name = "the gradient norm" if episode.signal is Signal.GRAD_NORM else "the loss"
    return f"{name} became {word} at {at_step(episode.onset_step)} and stayed non-finite"


def _ended_in_guard(
    timeline: Timeline, episodes: Sequence[Episode], text: Sequence[TextEvidence]
) -> Episode | None:
    """A guard that skipped non-finite steps until the run ended in them."""
    guards = [t for t in text if t.kind is TextKind.NON_FINITE_GUARD]
    gradient = [
        e
        for e in episodes
        if e.kind is EpisodeKind.NON_FINITE
        and e.signal is Signal.GRAD_NORM
        and e.ending is Ending.PERSISTED
    ]
    return gradient[0] if guards and gradient else None
