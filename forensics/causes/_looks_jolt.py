"""Looks at single large gradients on the way to the floor on which a run then rests."""

from forensics.case import Case
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_clipping import clipping_loose, clipping_off
from forensics.findings import EpisodeKind, Outcome
from forensics.phrasing import at_step, number, times


def jolted_to_rest(case: Case, ratio: float = 10.0, share: float = 0.1) -> Seen:
    """An unbounded gradient many times the usual came as the loss was about to come to rest.

    The loss itself need not leap: what such a step takes away was not learned yet.
    """
    onset, line = case.judgement.onset_step, case.timeline
    unbounded = clipping_off(case).holds or clipping_loose(case).holds
    if case.judgement.outcome is not Outcome.STALLED or onset is None or not unbounded:
        return NOT_APPLICABLE
    until = onset + share * (line.last_step - line.first_step)
    jolts = [
        e
        for e in case.episodes_of(EpisodeKind.GRADIENT_SPIKE, EpisodeKind.GRADIENT_EXPLOSION)
        if e.onset_step <= until and float(e.details.get("ratio") or 0.0) >= ratio
    ]
    if not jolts:
        return NOT_APPLICABLE
    worst = max(jolts, key=lambda e: float(e.details["ratio"]))
    size = "" if worst.peak_value is None else f" of {number(worst.peak_value)}"
    return Seen(
        True,
        f"A gradient norm{size}, {times(float(worst.details['ratio']))} the usual, was applied "
        f"unclipped at {at_step(worst.onset_step)}; the loss came to rest about {at_step(onset)}.",
        (worst.onset_step,),
    )
