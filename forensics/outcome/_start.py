"""A start that blew up and got nowhere: the loss comes back to where it began, and rests there."""

from collections.abc import Sequence

from forensics.findings import (
    Episode,
    EpisodeKind,
    Judgement,
    Outcome,
    Severity,
    Symptom,
)
from forensics.medians import median
from forensics.outcome._chain import judgement
from forensics.signals import Signal
from forensics.timeline import Timeline

FIRST_POINTS, ENOUGH_POINTS = 5, 20
BLOWN_UP, OUT_OF_NOISE = 2.0, 1.5
"""Times the first loss that the spike reaches, and times the highest loss of the later points."""
NOT_BETTER = 0.75
"""Share of the first loss above which nothing to speak of was learned at last."""
RESTS = 0.9
"""Share of its level in the middle of the run above which a loss no longer falls."""


def blew_up_at_start(timeline: Timeline, episodes: Sequence[Episode]) -> Judgement | None:
    """Stalled, where all that followed a blow-up of the first points was the way back from it."""
    track = timeline.get(Signal.TRAIN_LOSS)
    if track is None or int(track.finite.sum()) < ENOUGH_POINTS:
        return None
    step, value = track.step[track.finite], track.value[track.finite]
    spike = next((e for e in episodes if e.kind is EpisodeKind.LOSS_SPIKE), None)
    if spike is None or spike.severity is Severity.INFO or spike.onset_step > step[FIRST_POINTS]:
        return None
    first, n = float(value[0]), len(value)
    middle, end = median(value[n // 3 : 2 * n // 3]), median(value[-n // 3 :])
    peak, usual = spike.peak_value or 0.0, float(value[n // 3 :].max())
    if not peak >= max(BLOWN_UP * first, OUT_OF_NOISE * usual) > 0 or first <= 0:
        return None
    if end < NOT_BETTER * first or end < RESTS * middle:
        return None
    reason = (
        f"the loss rose from {first:.4g} to {spike.peak_value:.4g} in the first points, came back "
        f"and rests at {end:.4g}, where it began"
    )
    return judgement(
        Outcome.STALLED, Symptom.NO_PROGRESS, episodes, spike, spike.onset_step, reason
    )
