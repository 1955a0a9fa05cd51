"""Episodes -> outcome: how the run ended, what a person saw, and where it began.

Rules are asked from the worst to the mildest; the first that holds is the judgement.
"""

from collections.abc import Callable, Sequence

from forensics.findings import Episode, Judgement, Outcome, Symptom
from forensics.outcome._crash import crashed, of_last_attempt
from forensics.outcome._cut_off import cut_off
from forensics.outcome._ended_short import ended_short
from forensics.outcome._loss import diverged, never_stepped, recovered, stalled
from forensics.outcome._non_finite import non_finite
from forensics.outcome._policy import collapsed, judged_by_play
from forensics.outcome._start import blew_up_at_start
from forensics.outcome._validation import validation
from forensics.phrasing import counted_in
from forensics.run import TextEvidence
from forensics.signals import Signal
from forensics.timeline import Timeline

ENOUGH_POINTS = 5


def judge(
    timeline: Timeline,
    episodes: Sequence[Episode],
    text: Sequence[TextEvidence] = (),
    planned: int | None = None,
) -> Judgement:
    """Judge a run by its episodes and by what its text proves.

    Args:
        timeline: The run.
        episodes: All that was found in it.
        text: What its text proves.
        planned: Steps it was to do, where known.
    """
    with counted_in(timeline.axis.noun):
        return _judged(timeline, episodes, of_last_attempt(text), planned)


def _judged(
    timeline: Timeline,
    episodes: Sequence[Episode],
    last: Sequence[TextEvidence],
    planned: int | None,
) -> Judgement:
    played = judged_by_play(timeline)
    of_loss: tuple[Callable[[], Judgement | None], ...] = (
        lambda: never_stepped(episodes),
        lambda: diverged(episodes),
        lambda: cut_off(timeline, episodes),
        lambda: stalled(episodes),
        lambda: blew_up_at_start(timeline, episodes),
        lambda: validation(episodes),
    )
    rules: tuple[Callable[[], Judgement | None], ...] = (
        lambda: non_finite(timeline, episodes, last),
        lambda: collapsed(episodes),
        *(() if played else of_loss),
        lambda: crashed(timeline, last, planned),
        lambda: None if played else recovered(episodes),
        lambda: played,
    )
    for rule in rules:
        found = rule()
        if found is not None:
            return found
    return _healthy(timeline)


def _healthy(timeline: Timeline) -> Judgement:
    tracks = [timeline.get(s) for s in (Signal.TRAIN_LOSS, Signal.EVAL_LOSS)]
    points = max((len(t) for t in tracks if t is not None), default=0)
    if points < ENOUGH_POINTS:
        seen = f"only {points} points of a loss were logged" if points else "no loss was logged"
        return Judgement(Outcome.UNKNOWN, Symptom.NONE, None, None, None, seen)
    reason = f"nothing left its band for good in {points:,} logged points"
    return Judgement(Outcome.HEALTHY, Symptom.NONE, None, None, None, reason)


__all__ = ["ended_short", "judge"]
