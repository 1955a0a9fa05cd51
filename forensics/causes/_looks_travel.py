"""Looks at how far the updates can have moved, or did move, the weights over the whole run."""

import numpy as np

from forensics.case import Case
from forensics.causes import _checkpoints as saved
from forensics.causes import _facts as facts
from forensics.causes._base import Seen
from forensics.causes._looks_told import decay_unseen
from forensics.causes._lr_ranges import OptimizerKind, documented_range, optimizer_kind
from forensics.phrasing import number, percent, stretch
from forensics.signals import Signal

FROM_SCRATCH, FINE_TUNED = 1e-2, 1e-4
"""New weights are some hundredths in size; a trained model is tuned by changes of far less."""


def reach_short(case: Case) -> Seen:
    """All steps together can move no weight by more than a small part of its size.

    An optimizer of Adam's kind moves a weight by at most about the learning rate a step.
    """
    if optimizer_kind(case) is not OptimizerKind.ADAPTIVE or not facts.counts_steps(case):
        return Seen(None, "Needs the optimizer's name, and the learning rate of every step.")
    reach = _sum_of_rates(case)
    if reach is None:
        return Seen(None, "Needs the learning rate, logged or configured.")
    least = FINE_TUNED if case.config.pretrained or case.config.lora else FROM_SCRATCH
    return Seen(
        reach < least,
        f"The learning rates of all {case.timeline.last_step:,} steps add up to {number(reach)}, "
        f"beyond which Adam can move no weight; {number(least)} is little.",
    )


def rate_far_below_range(case: Case, factor: float = 20.0) -> Seen:
    """The rate never came near what recipes use."""
    lr, known = _peak(case), documented_range(case)
    if lr is None:
        return Seen(None, "Needs the learning rate, logged or configured.")
    low = lr < known.low / factor
    if not low and decay_unseen(case).holds:
        return Seen(None, "Needs the logged learning rate, which the schedule divides.")
    return Seen(
        low,
        f"The learning rate reached {number(lr)}; usual for {known.name} is {number(known.low)} to "
        f"{number(known.usual)}.",
    )


def hardly_moved(case: Case, share: float = 2e-3, least: int = 20) -> Seen:
    """From save to save the weights moved, but by next to nothing of themselves."""
    told = [
        (pair, sizes)
        for pair in saved.pairs(case)
        if pair.steps >= least
        and (sizes := [w.relative for w in pair.weights if len(w.shape) > 1 and w.moved > 0])
    ]
    if not told:
        return saved.seen(None, "Needs the weights of two checkpoints (scan them).")
    pair, sizes = max(told, key=lambda it: float(np.median(it[1])))
    moved = float(np.median(sizes))
    return saved.seen(
        moved < share,
        f"In {stretch(pair.steps)} from {pair.earlier} to {pair.later} the median matrix "
        f"moved by {percent(moved)} of itself.",
    )


def _peak(case: Case) -> float | None:
    return case.lr.peak if case.lr is not None else case.config.lr_peak


def _sum_of_rates(case: Case) -> float | None:
    logged = facts.points(case.track(Signal.LR))
    if logged is not None and len(logged) > 3:
        return float(np.sum(logged.value * np.gradient(logged.step.astype(float))))
    peak = case.config.lr_peak
    return None if peak is None else peak * case.timeline.last_step
