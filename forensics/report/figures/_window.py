"""Which steps the second, smaller figure shows."""

from forensics.case import Case
from forensics.findings import Outcome
from forensics.signals import Signal

POINTS_BESIDE = 25
"""Logged points shown before the onset: enough to see what was normal."""
LARGEST_SHARE = 0.4
"""Of the run: a window wider than this shows nothing that the whole figure does not."""


def zoom_window(case: Case) -> tuple[int, int] | None:
    """First and last step around the onset; None where the whole run is as clear."""
    onset = case.judgement.onset_step
    line = case.timeline
    if onset is None or case.judgement.outcome is Outcome.HEALTHY:
        return None
    loss = line.get(Signal.TRAIN_LOSS)
    interval = loss.interval if loss is not None else line.interval
    before = max(round(POINTS_BESIDE * interval), 3)
    decisive = case.judgement.decisive
    ends = [onset + before]
    if decisive is not None:
        ends += [s for s in (decisive.peak_step, decisive.recovery_step) if s is not None]
    # A late recovery must not squeeze the onset itself into a corner.
    end = min(max(ends) + before // 2, onset + 4 * before)
    first, last = max(onset - before, line.first_step), min(end, line.last_step)
    whole = line.last_step - line.first_step
    return (first, last) if 0 < last - first <= LARGEST_SHARE * whole else None
