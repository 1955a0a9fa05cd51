"""Looks at what the updates did to the weights: update ratio, parameter norm, zero gradients."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import Seen
from forensics.phrasing import number, percent
from forensics.signals import Signal


def updates_large(case: Case, limit: float = 1e-2) -> Seen:
    """An update changes the weights by more than a hundredth; about a thousandth is usual."""
    ratio = _update_ratio(case)
    if ratio is None:
        return Seen(None, "Needs the update ratio |dw|/|w| of a few steps.")
    return Seen(ratio > limit, f"The median update is {percent(ratio)} of the weights.")


def updates_small(case: Case, limit: float = 1e-5) -> Seen:
    """An update changes the weights by less than a hundred-thousandth."""
    ratio = _update_ratio(case)
    if ratio is None:
        return Seen(None, "Needs the update ratio |dw|/|w| of a few steps.")
    return Seen(
        ratio < limit, f"The median update changes the weights by a factor {number(ratio)}."
    )


def weights_frozen(case: Case) -> Seen:
    """The parameter norm is the same at every step, to the last digit."""
    found = facts.points(case.track(Signal.PARAM_NORM))
    if found is None or len(found) < 3:
        return Seen(None, "Needs the parameter norm of a few steps, or two checkpoints to compare.")
    spread, level = float(np.ptp(found.value)), float(np.median(np.abs(found.value)))
    frozen = spread <= 1e-7 * max(level, 1e-12)
    verb = "does not change at all" if frozen else f"moves by {number(spread)}"
    return Seen(frozen, f"The parameter norm, {number(level)}, {verb} over the run.")


def weights_shrink(case: Case, share: float = 0.3) -> Seen:
    """The parameter norm falls by ``share`` or more."""
    found = facts.points(case.track(Signal.PARAM_NORM))
    if found is None or len(found) < 3:
        return Seen(None, "Needs the parameter norm over the run, or two checkpoints to compare.")
    first, last = float(found.value[0]), float(found.value[-1])
    return Seen(
        last <= (1 - share) * first,
        f"The parameter norm went from {number(first)} to {number(last)}.",
    )


def zero_gradients_rise(case: Case, factor: float = 2.0) -> Seen:
    """Ever more gradient entries are exactly zero: units that no example reaches."""
    found = facts.points(case.track(Signal.ZERO_GRADS))
    if found is None or len(found) < 8:
        return Seen(None, "Needs the number of exactly zero gradient entries.")
    quarter = len(found) // 4
    first, last = float(np.median(found.value[:quarter])), float(np.median(found.value[-quarter:]))
    return Seen(
        last > 0 and last >= factor * first,
        f"The gradient entries that are exactly zero went from {number(first)} to {number(last)}.",
    )


def _update_ratio(case: Case) -> float | None:
    """Median |dw|/|w| before the onset; trackers that log its logarithm give negative values."""
    found = facts.before(case, Signal.UPDATE_RATIO, facts.break_onset(case), 3)
    if found is None:
        return None
    median = float(np.median(found.value))
    return 10**median if median < 0 else median
