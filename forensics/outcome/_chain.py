"""From the decisive episode back to the first mover of the chain that led to it."""

from collections.abc import Sequence
from dataclasses import replace

from forensics.findings import Ending, Episode, EpisodeKind, Judgement, Outcome, Symptom
from forensics.signals import Signal


def judgement(
    outcome: Outcome,
    symptom: Symptom,
    episodes: Sequence[Episode],
    decisive: Episode | None,
    step: int,
    reason: str,
) -> Judgement:
    """Walk back from the decisive episode to the first mover of the chain that led to it."""
    chain = _chain(episodes, decisive) if decisive is not None else []
    first = min(chain, key=lambda e: e.onset_step, default=decisive)
    if first is None:
        return Judgement(outcome, symptom, step, None, None, reason)
    onset, mover, after = first.onset_step, first.signal, first.after_step
    if first.first_mover_step is not None and first.first_mover_step < onset:
        onset, mover = first.first_mover_step, first.first_mover or mover
        after = min(after, onset - 1) if after is not None else None
    return Judgement(outcome, symptom, onset, after, mover, reason, decisive)


def since(series: Episode, found: Judgement) -> Judgement:
    """The same judgement, begun with the first of a series of spikes."""
    onset, mover, after = series.onset_step, series.signal, series.after_step
    if series.first_mover_step is not None and series.first_mover_step < onset:
        onset, mover = series.first_mover_step, series.first_mover or mover
        after = min(after, onset - 1) if after is not None else None
    if found.onset_step is not None and found.onset_step <= onset:
        return found
    return replace(found, onset_step=onset, after_step=after, first_mover=mover)


def _chain(episodes: Sequence[Episode], decisive: Episode) -> list[Episode]:
    """Excursions still under way when the decisive episode began, and itself.

    Single non-finite values have finite ones between them: those are not under way.
    """
    leads = (
        EpisodeKind.LOSS_SPIKE,
        EpisodeKind.NON_FINITE,
        EpisodeKind.DIVERGENCE,
        EpisodeKind.RESUME_JUMP,
    )
    if decisive.kind in (EpisodeKind.OVERFIT, EpisodeKind.PLATEAU, EpisodeKind.VALIDATION_FAILURE):
        return [decisive]
    return [
        e
        for e in episodes
        if e is decisive
        or (
            e.kind in leads
            and (e.kind is not EpisodeKind.NON_FINITE or e.ending is Ending.PERSISTED)
            and e.signal is not Signal.EVAL_LOSS
            and e.onset_step <= decisive.onset_step
            and (e.recovery_step is None or e.recovery_step >= decisive.onset_step)
        )
    ]
