"""Looks at the learning rate's level."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_model import BATCHNORM, DETECTORS, named_after
from forensics.causes._lr_ranges import (
    ANY_OPTIMIZER,
    PER_SAMPLE,
    OptimizerKind,
    documented_range,
    optimizer_kind,
)
from forensics.phrasing import at_step, number, percent, times
from forensics.signals import Signal

NOT_KNOWN = "Needs the learning rate, logged or configured."


def lr_above_range(case: Case) -> Seen:
    """The rate reached what is commonly reported as unstable for this way to train."""
    return _against(case, "high")


def lr_far_above_range(case: Case) -> Seen:
    """The rate reached a level that hardly any run survives."""
    return _against(case, "harmful")


def lr_ordinary(case: Case) -> Seen:
    """The rate stayed below the upper end of what recipes use."""
    seen = _against(case, "usual")
    return Seen(None if seen.holds is None else not seen.holds, seen.text)


def _against(case: Case, limit: str) -> Seen:
    """Compare the highest rate up to the onset with one limit of the documented range.

    Without the optimizer's name only a rate that is too high for all of them can be judged.
    """
    lr, known = facts.highest_lr(case), documented_range(case)
    if lr is None:
        return Seen(None, NOT_KNOWN)
    above = lr > float(getattr(known, limit))
    if known is ANY_OPTIMIZER and not lr > known.high:
        return Seen(None, "Needs the name of the optimizer to judge the learning rate.")
    size = f", {times(lr / known.usual)} the upper end of what" if lr > known.high else "; what"
    return Seen(
        above,
        f"The learning rate {_reached(case, lr)}{size} is usual for {known.name} "
        f"({number(known.low)} to {number(known.usual)}).",
    )


def _reached(case: Case, lr: float) -> str:
    """How high the rate was; of one that rose further, that this is the value at the onset."""
    step = facts.break_onset(case)
    if case.lr is None or step is None or case.lr.peak <= 1.01 * lr:
        return f"reached {number(lr)}"
    return f"had reached {number(lr)} of its peak {number(case.lr.peak)} by {at_step(step)}"


def lr_high_for_batch(case: Case, factor: float = 3.0) -> Seen:
    """With SGD, on images: the rate per sample is far above that of linear-scaling recipes."""
    lr, batch = facts.highest_lr(case), case.config.effective_batch
    images = named_after(case, *BATCHNORM, *DETECTORS)
    if optimizer_kind(case) is not OptimizerKind.PLAIN or lr is None or not batch or not images:
        return NOT_APPLICABLE
    return Seen(
        lr / batch >= factor * PER_SAMPLE,
        f"The learning rate {number(lr)} at {batch:,} samples a step is {number(lr / batch)} per "
        f"sample; recipes that scale it with the batch use up to {number(PER_SAMPLE)}.",
        source="configuration",
    )


def lr_tiny(case: Case) -> Seen:
    """The rate never rose above what can teach anything in reasonable time."""
    known = documented_range(case)
    lr = case.lr.peak if case.lr is not None else case.config.lr_peak
    if lr is None:
        return Seen(None, NOT_KNOWN)
    verb = "never rose above" if lr <= known.tiny else "reached"
    return Seen(lr <= known.tiny, f"The learning rate {verb} {number(lr)}.")


def lr_zero(case: Case, share: float = 0.5) -> Seen:
    """The rate was zero for most of the run."""
    found = facts.points(case.track(Signal.LR))
    if found is None:
        peak = case.config.lr_peak
        if peak is None:
            return Seen(None, NOT_KNOWN)
        return Seen(peak == 0, f"The configured learning rate is {number(peak)}.")
    zero = float(np.mean(found.value == 0))
    return Seen(zero >= share, f"The learning rate was exactly 0 in {percent(zero)} of the log.")


def lr_decayed_early(case: Case, rest: float = 0.01, left: float = 0.3) -> Seen:
    """The rate fell below ``rest`` of its peak while ``left`` of the run was still to come."""
    found = facts.points(case.track(Signal.LR))
    if found is None or case.lr is None or case.lr.peak <= 0:
        return Seen(None, "Needs the logged learning rate.")
    live = np.flatnonzero(found.value > rest * case.lr.peak)
    gone = int(live[-1]) + 1 if len(live) else 0
    end = max(case.config.total_steps or 0, case.timeline.last_step)
    if gone >= len(found):
        return Seen(False, f"The learning rate stayed above {percent(rest)} of its peak.")
    step = int(found.step[gone])
    remaining = (end - step) / max(end - case.timeline.first_step, 1)
    return Seen(
        remaining >= left,
        f"From {at_step(step)} the learning rate is below {percent(rest)} of its peak "
        f"{number(case.lr.peak)}, with {percent(remaining)} of the run to come.",
        (step,),
    )
