"""Outcomes of the training loss: diverged, stalled, spiked and recovered."""

from collections.abc import Sequence
from dataclasses import replace

from forensics.findings import (
    Ending,
    Episode,
    EpisodeKind,
    Judgement,
    Outcome,
    Severity,
    Symptom,
)
from forensics.outcome._chain import judgement, since
from forensics.phrasing import at_step
from forensics.signals import Signal

LEAST_SPIKE = 1.2
"""A spike that is told as one; smaller ones are noise in a quiet log."""

AS_HIGH, MANIFOLD = 1 / 3, 10.0
"""A run that spiked and came back began with the first spike of this share of the highest, or of so
many times its own level."""
BROKEN = {
    EpisodeKind.NON_FINITE: "was non-finite",
    EpisodeKind.HIDDEN_NON_FINITE: "was exactly 0 among others far from it",
}
"""What happened to the loss where it has no height."""
NEVER = 0.15
"""A loss that lost less than this share of its first level never fell to speak of."""


def diverged(episodes: Sequence[Episode]) -> Judgement | None:
    found = [
        e
        for e in episodes
        if e.kind is EpisodeKind.DIVERGENCE
        and e.severity is Severity.FAILURE
        and not _explained_by_data(e, episodes)
    ]
    if found:
        return _divergence(found[0], episodes)
    slow = [
        e
        for e in episodes
        if e.kind is EpisodeKind.LOSS_SPIKE
        and e.severity is Severity.FAILURE
        and e.recovery_step is not None
    ]
    if not slow:
        return _never_back_after_resume(episodes)
    worst = max(slow, key=lambda e: e.details["recovery_steps"] or 0)
    reason = (
        f"the loss left its band at {at_step(worst.onset_step)}, peaked at {worst.peak_value:.4g} "
        f"and was back at its level only {worst.details['recovery_steps']:,} steps later"
    )
    return judgement(
        Outcome.SPIKED_UNRECOVERED,
        Symptom.SPIKE_NEVER_RECOVERS,
        episodes,
        worst,
        worst.onset_step,
        reason,
    )


def _never_back_after_resume(episodes: Sequence[Episode]) -> Judgement | None:
    lasting = [
        e
        for e in episodes
        if e.kind is EpisodeKind.RESUME_JUMP
        and e.ending is Ending.PERSISTED
        and e.details["direction"] == "up"
        and e.details["final"] >= LEAST_SPIKE * e.details["before"] > 0
    ]
    if not lasting:
        return None
    d = lasting[0].details
    reason = (
        f"the loss was {d['before']:.4g} before the resume at {at_step(lasting[0].onset_step)}, "
        f"jumped to {d['after']:.4g} and ends at {d['final']:.4g}"
    )
    return judgement(
        Outcome.SPIKED_UNRECOVERED,
        Symptom.SPIKE_NEVER_RECOVERS,
        episodes,
        lasting[0],
        lasting[0].onset_step,
        reason,
    )


def _divergence(episode: Episode, episodes: Sequence[Episode]) -> Judgement:
    away = episode.ending is Ending.DIVERGED
    series = next(
        (
            e
            for e in episodes
            if e.kind is EpisodeKind.CONSECUTIVE_SPIKES and e.ending is not Ending.RECOVERED
        ),
        None,
    )
    outcome = Outcome.DIVERGED if away else Outcome.SPIKED_UNRECOVERED
    repeated = series is not None and not away
    symptom = Symptom.CONSECUTIVE_SPIKES if repeated else Symptom.SPIKE_NEVER_RECOVERS
    found = judgement(outcome, symptom, episodes, episode, episode.onset_step, "")
    if series is not None and not away:
        found = since(series, found)
    return replace(found, reason=_divergence_reason(episode, found.onset_step))


def _divergence_reason(episode: Episode, onset: int | None) -> str:
    """How the loss went, told from the onset that the whole report names."""
    d, left = episode.details, episode.onset_step if onset is None else onset
    best, ends = f"{d['best_value']:.4g}", f"{d['final']:.4g}"
    if d["best_step"] >= left or d["best_value"] >= d["initial"]:
        return f"the loss left its band at {at_step(left)}, {best} was its best; it ends at {ends}"
    return (
        f"the loss fell to {best} by {at_step(d['best_step'])}, left its band at {at_step(left)} "
        f"and ends at {ends}"
    )


def _explained_by_data(divergence: Episode, episodes: Sequence[Episode]) -> bool:
    """A single step up that validation on fixed data does not share: the data changed.

    A loss back where training began is not explained by that.
    """
    d = divergence.details
    return d["final"] < d["initial"] and any(
        e.kind is EpisodeKind.LEVEL_SHIFT
        and e.details["direction"] == "up"
        and e.details["validation_moved"] is False
        and (divergence.after_step or 0) <= e.onset_step
        for e in episodes
    )


def never_stepped(episodes: Sequence[Episode]) -> Judgement | None:
    """Every step was skipped: nothing was trained, whatever loss was logged meanwhile."""
    found = [
        e
        for e in episodes
        if e.kind is EpisodeKind.SKIPPED_STEPS and e.severity is Severity.FAILURE
    ]
    if not found:
        return None
    first = found[0].onset_step
    reason = f"the optimizer skipped every step from {at_step(first)} on"
    return judgement(Outcome.STALLED, Symptom.NO_PROGRESS, episodes, found[0], first, reason)


def stalled(episodes: Sequence[Episode]) -> Judgement | None:
    found = [
        e for e in episodes if e.kind is EpisodeKind.PLATEAU and e.severity is Severity.FAILURE
    ]
    if not found:
        return None
    flat = found[0]
    d = flat.details
    what = "stopped falling early"
    if d["from_start"]:
        never = d["improvement"] < NEVER
        what = (
            "never fell to speak of" if never else "was far off at first and far from done at last"
        )
    name = "" if d["level_kind"] == "unnamed" else f" ({d['level_name']})"
    reason = f"the loss {what}: {d['level']:.4g} from {at_step(flat.onset_step)} on{name}"
    return judgement(Outcome.STALLED, Symptom.NO_PROGRESS, episodes, flat, flat.onset_step, reason)


def recovered(episodes: Sequence[Episode]) -> Judgement | None:
    """Left its band and came back: spikes, jumps at a resume, isolated non-finite values."""
    events = [e for e in episodes if e.ending is Ending.RECOVERED and _is_event(e)]
    if not events:
        return None
    finite = [e for e in events if e.kind not in BROKEN]
    many = [e for e in episodes if e.kind is EpisodeKind.CONSECUTIVE_SPIKES]
    worst = max(finite, key=_ratio) if finite else events[0]
    symptom = Symptom.CONSECUTIVE_SPIKES if many else Symptom.SINGLE_SPIKE_RECOVERS
    series = next((e for e in many if worst.onset_step in e.details["steps"]), None)
    start = min(
        (e for e in finite if _height(e) >= AS_HIGH * _height(worst) or _ratio(e) >= MANIFOLD),
        default=worst,
        key=_when,
    )
    count = len({e.onset_step for e in events})
    what = "left its band" if finite else BROKEN[worst.kind]
    reason = (
        f"the loss {what} {count} time{'s' if count > 1 else ''}, worst at "
        f"{at_step(worst.onset_step)} ({worst.peak_value:.4g}), and came back"
    )
    found = judgement(Outcome.SPIKED_RECOVERED, symptom, episodes, worst, worst.onset_step, reason)
    return since(series or start, found)


def _when(episode: Episode) -> int:
    return episode.onset_step


def _height(episode: Episode) -> float:
    """Rise above the level before."""
    return (episode.peak_value or 0.0) - (episode.baseline or 0.0)


def _is_event(episode: Episode) -> bool:
    if episode.kind in BROKEN:
        return episode.signal is Signal.TRAIN_LOSS
    if episode.severity is not Severity.WARNING or _ratio(episode) < LEAST_SPIKE:
        return False
    if episode.kind is EpisodeKind.RESUME_JUMP:
        return bool(episode.details["direction"] == "up")
    return episode.kind is EpisodeKind.LOSS_SPIKE


def _ratio(episode: Episode) -> float:
    """Peak over the level before; infinite where that level is not positive."""
    if not episode.baseline or episode.baseline <= 0 or episode.peak_value is None:
        return float("inf") if episode.peak_value is not None else 0.0
    return episode.peak_value / episode.baseline
