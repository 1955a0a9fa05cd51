"""Looks at the points right before a loss broke: whether anything foretold it."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.medians import median
from forensics.phrasing import at_step, number, percent, times
from forensics.signals import Signal

FEW = 3
"""Losses that show whether one fell."""


def fell_to_the_last(case: Case, room: float = 0.02) -> Seen:
    """No loss before the first non-finite number lies above one before it: nothing overshot."""
    onset = facts.first_non_finite(case)
    found = None if onset is None else facts.before(case, Signal.TRAIN_LOSS, onset, FEW)
    if onset is None or found is None:
        return NOT_APPLICABLE
    last = found.value[-8:]
    shown = ", ".join(number(float(v)) for v in last)
    fell = bool(np.all(np.diff(last) <= room * np.abs(last[:-1])))
    fell = fell and bool(last[-1] < last[0])
    return Seen(fell, f"The last losses before {at_step(onset)} were {shown}.", (onset,))


def fits_perfectly(case: Case, right: float = 0.999, left: float = 0.01) -> Seen:
    """The loss broke when hardly any was left: probabilities reach 0 and 1, distances 0."""
    onset = facts.first_non_finite(case)
    found = None if onset is None else facts.before(case, Signal.TRAIN_LOSS, onset, FEW)
    if onset is None or found is None or found.value[0] <= 0:
        return NOT_APPLICABLE
    last, first = median(found.value[-3:]), float(found.value[0])
    share = facts.before(case, Signal.TRAIN_ACCURACY, onset, FEW)
    if share is not None:
        unit = 100.0 if float(share.value.max()) > 1.0 else 1.0
        known = median(share.value[-3:]) / unit
        return Seen(
            known >= right,
            f"Before {at_step(onset)} the training accuracy was {percent(known)}, the loss "
            f"{number(float(found.value[-1]))}.",
            (onset,),
        )
    return Seen(
        0 <= last <= left * first,
        f"Before {at_step(onset)} the loss was {number(last)}, {percent(last / first)} of the "
        "first.",
        (onset,),
    )


def leapt_in_one_batch(case: Case, factor: float = 30.0, usual: float = 3.0) -> Seen:
    """A loss far above all before it, and not one gradient before it that was out of the ordinary.

    A loss is computed before the update of its step. What makes it leap is in its own batch, or an
    update before it; and an ordinary gradient makes no such update.
    """
    loss, norm = facts.points(case.track(Signal.TRAIN_LOSS)), case.track(Signal.GRAD_NORM)
    if loss is None or norm is None or case.timeline.interval > 1 or not facts.counts_steps(case):
        return Seen(None, "Needs the loss and the gradient norm of every step.")
    onset = case.judgement.onset_step
    at = len(loss) if onset is None else int(np.searchsorted(loss.step, onset))
    norms = facts.before(case, Signal.GRAD_NORM, onset, 16)
    if onset is None or at < 16 or at == len(loss) or norms is None or not np.any(norms.value):
        return NOT_APPLICABLE
    level, top = median(loss.value[at - 16 : at]), float(loss.value[at - 16 : at].max())
    here, last = float(loss.value[at]), norms.value[-8:]
    ordinary = float(last.max()) <= usual * median(norms.value)
    if level <= 0:
        return NOT_APPLICABLE
    return Seen(
        here >= factor * top and ordinary,
        f"At {at_step(onset)} the loss was {number(here)}, {times(here / level)} its level, before "
        f"the update of that step; the gradient norms up to there were at most "
        f"{number(float(last.max()))}, their median {number(median(norms.value))}.",
        (onset,),
    )
