"""Looks at how a run broke: out of calm or with a warning, and what came of it."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_loss_shape import drifted
from forensics.causes._looks_non_finite import warnings_before
from forensics.causes._looks_outcome import BROKE
from forensics.findings import Outcome
from forensics.medians import MAD_TO_SD, median
from forensics.phrasing import at_step, number, times
from forensics.signals import Signal

LONGEST_LEAD = 8
"""Steps by which an update out of proportion leads the loss (arXiv 2304.13013: one to eight)."""


def out_of_calm(case: Case) -> Seen:
    """After long training without trouble the loss left its band within one logged point."""
    onset = _onset(case)
    if onset is None:
        return NOT_APPLICABLE
    calm = facts.before(case, Signal.TRAIN_LOSS, onset, 16)
    if calm is None or not facts.counts_steps(case) or onset <= facts.surely_early(case):
        return NOT_APPLICABLE
    slow = drifted(case)
    if slow.holds:
        return Seen(False, slow.text, slow.steps)
    warned = warnings_before(case, onset)
    if warned:
        return Seen(False, f"Before the onset at {at_step(onset)}, {warned}.", (onset,))
    if case.timeline.interval > LONGEST_LEAD:
        return Seen(None, "Needs the loss and the gradient norm of every step before the onset.")
    first = facts.since(case, Signal.TRAIN_LOSS, onset)
    leap = np.inf if first is None else float(first.value[0])
    usual, spread = median(calm.value[-16:]), float(np.ptp(calm.value[-16:]))
    return Seen(
        leap > usual + max(2 * spread, 0.3 * abs(usual)),
        f"Nothing had left its band before {at_step(onset)}; there the loss went from "
        f"{number(float(calm.value[-1]))} to {number(leap)} from one logged point to the next.",
        (onset,),
    )


def beyond_reason(case: Case, factor: float = 1e4) -> Seen:
    """From one logged point to the next the loss leapt by orders of magnitude.

    A step of ordinary length changes ordinary weights by a few hundredths: no loss can leap so far
    by it, while one number of an impossible size makes it.
    """
    onset = _onset(case)
    before = None if onset is None else facts.before(case, Signal.TRAIN_LOSS, onset, 4)
    first = None if onset is None else facts.since(case, Signal.TRAIN_LOSS, onset)
    if onset is None or before is None or first is None:
        return NOT_APPLICABLE
    if case.timeline.interval > LONGEST_LEAD:
        return Seen(None, "Needs the loss of every step around the onset.")
    usual, leap = max(abs(median(before.value[-16:])), 1e-3), float(first.value[0])
    return Seen(
        leap >= factor * max(usual, 1.0),
        f"At {at_step(onset)} the loss leapt from {number(usual)} to {number(leap)}.",
        (onset,),
    )


def never_relearned(case: Case, points: int = 12) -> Seen:
    """After the break the loss rests: nothing was learned in all the steps that followed."""
    onset = _onset(case)
    after = None if onset is None else facts.since(case, Signal.TRAIN_LOSS, onset, points)
    before = None if onset is None else facts.before(case, Signal.TRAIN_LOSS, onset, 4)
    if after is None or before is None:
        return NOT_APPLICABLE
    rest = after.value[2:]
    early, late = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    noise = MAD_TO_SD * median(np.abs(np.diff(rest))) / np.sqrt(len(late))
    moved = abs(median(early) - median(late))
    level, first = median(before.value[-16:]), facts.initial_loss(case)
    # An output that no longer depends on its input costs what an untrained model costs.
    idle = first is None or median(late) <= 1.3 * abs(first)
    rests = moved <= max(2 * noise, 0.01 * abs(median(late)))
    return Seen(
        bool(rests and median(late) > 1.2 * level and idle),
        f"From {at_step(int(after.step[0]))} on the loss was {number(median(early))} in the first "
        f"and {number(median(late))} in the second half of what followed.",
    )


def overshot_its_rest(case: Case, factor: float = 2.0) -> Seen:
    """At the break the loss rose far above the level on which it then came to rest."""
    onset = _onset(case)
    after = None if onset is None else facts.since(case, Signal.TRAIN_LOSS, onset, 12)
    if after is None:
        return NOT_APPLICABLE
    top, rest = float(after.value[:8].max()), median(after.value[len(after) // 2 :])
    return Seen(
        rest > 0 and top > factor * rest,
        f"The loss rose to {number(top)} at {at_step(int(after.step[0]))} and came to rest at "
        f"{number(rest)}.",
    )


def gradient_quiet_after(case: Case) -> Seen:
    """The loss rose, and the gradient norm fell: what could lower the loss gets no gradient."""
    onset = _onset(case)
    if onset is None:
        return NOT_APPLICABLE
    norms = [facts.before(case, Signal.GRAD_NORM, onset, 4)]
    norms.append(facts.since(case, Signal.GRAD_NORM, onset + 1, 4))
    losses = [facts.before(case, Signal.TRAIN_LOSS, onset, 4)]
    losses.append(facts.since(case, Signal.TRAIN_LOSS, onset + 1, 4))
    if any(n is None or not np.any(n.value) for n in norms) or None in losses:
        return Seen(None, "Needs gradient norms from before and after the onset.")
    was, now = (median(n.value[-16:]) for n in norms if n is not None)
    low, high = (median(v.value[-16:]) for v in losses if v is not None)
    shrank = now < (0.6 if high < 3 * low else 1.0) * was
    return Seen(
        high > 1.3 * low and shrank,
        f"The loss went from {number(low)} to {number(high)} and the gradient norm from "
        f"{number(was)} to {number(now)} ({times(now / was if was else np.inf)}).",
    )


def _onset(case: Case) -> int | None:
    """The onset of a break that is no NaN: there the looks at non-finite numbers tell more."""
    if case.judgement.outcome not in BROKE or case.judgement.outcome is Outcome.NON_FINITE:
        return None
    return case.judgement.onset_step
