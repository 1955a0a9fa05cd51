"""Looks at quantities that differ by the number of micro-batches or of processes."""

import re

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes import _resumes as resumes
from forensics.causes._base import Seen
from forensics.phrasing import at_step, number, percent, times
from forensics.quantities import named
from forensics.signals import Signal
from forensics.timeline import Track

NO_ACCUMULATION = "Needs the number of accumulated micro-batches."
_RANK = re.compile(r"rank[_-]?(\d+)", re.IGNORECASE)
_SYNCHRONISED = (Signal.GRAD_NORM, Signal.PARAM_NORM, Signal.LR, Signal.LOSS_SCALE)


def accumulates(case: Case) -> Seen:
    """Several micro-batches make one optimizer step."""
    steps = case.config.grad_accum
    if steps is None:
        return Seen(None, NO_ACCUMULATION, source="configuration")
    return Seen(
        steps > 1,
        f"Gradients are accumulated over {steps:,} micro-batches.",
        source="configuration",
    )


def first_loss_is_multiple(case: Case, tolerance: float = 0.06) -> Seen:
    """The first loss is that of a guess, times or divided by the number of micro-batches.

    A pretrained model begins at a fraction of a guess anyway, so that a fraction counts only where
    training is known to begin from scratch.
    """
    steps, first, chance = case.config.grad_accum, facts.initial_loss(case), facts.chance_loss(case)
    if not steps or steps < 2 or first is None or chance is None or first <= 0:
        return Seen(None, f"{NO_ACCUMULATION[:-1]}, the first loss, and the number of classes.")
    (level, name), scratch = chance, case.config.pretrained is False
    ratio = first / level
    shown = f"The first loss, {number(first)}, is {times(ratio)} {number(level)} = {name}"
    factors = (float(steps), 1 / steps) if scratch else (float(steps),)
    if any(abs(ratio / factor - 1) <= tolerance for factor in factors):
        return Seen(True, f"{shown}; {steps:,} micro-batches are accumulated.")
    if scratch or abs(ratio - 1) <= 0.2:
        return Seen(False, f"{shown}, not {steps:,} times or one {steps:,}th of it.")
    return Seen(None, "Needs to know whether training began from scratch.")


def training_is_multiple_of_validation(case: Case, tolerance: float = 0.15) -> Seen:
    """The training loss is the validation loss times the number of micro-batches, all along."""
    steps = case.config.grad_accum
    ratios = _train_over_eval(case)
    if not steps or steps < 2 or ratios is None:
        return Seen(None, f"{NO_ACCUMULATION[:-1]} and several validation losses.")
    typical = float(np.median(ratios))
    factor = float(steps) if typical > 1 else 1 / steps
    steady = float(np.max(np.abs(ratios / factor - 1))) <= 2 * tolerance
    off = abs(typical / factor - 1)
    if tolerance < off <= 3 * tolerance or (off <= tolerance and not steady):
        return Seen(None, "Needs validations whose loss is not far from that of training.")
    return Seen(
        off <= tolerance and steady,
        f"The training loss is {times(typical)} the validation loss in {len(ratios):,} "
        f"validations; {steps:,} micro-batches are accumulated.",
    )


def _train_over_eval(case: Case) -> np.ndarray | None:
    """Training over validation loss at each validation, shape (n,)."""
    held_out = facts.points(case.track(Signal.EVAL_LOSS))
    train = facts.points(case.track(Signal.TRAIN_LOSS))
    if held_out is None or train is None or len(held_out) < 2 or len(train) < 4:
        return None
    known = held_out.step >= train.step[0]
    beside = facts.beside(train, held_out.step[known])
    level = held_out.value[known]
    ratios = beside[level > 1e-9] / level[level > 1e-9]
    return ratios if len(ratios) >= 2 and bool(np.all(ratios > 0)) else None


def several_processes(case: Case) -> Seen:
    """More than one process took part."""
    size = case.config.world_size
    if size is None:
        return Seen(None, "Needs the number of processes.", source="configuration")
    return Seen(size > 1, f"{size:,} processes took part.", source="configuration")


def ranks_disagree(case: Case, tolerance: float = 1e-3) -> Seen:
    """A quantity that every process must share differs between their logs."""
    for tracks in _by_rank(case):
        first, *others = tracks
        for other in others:
            common, here, there = np.intersect1d(first.step, other.step, return_indices=True)
            a, b = first.value[here], other.value[there]
            both = np.isfinite(a) & np.isfinite(b)
            if not both.any():
                continue
            apart = np.abs(a - b)[both] / np.maximum(np.maximum(np.abs(a), np.abs(b))[both], 1e-12)
            worst = int(np.argmax(apart))
            step = int(common[both][worst])
            return Seen(
                float(apart[worst]) > tolerance,
                f"Between {first.source} and {other.source} the "
                f"{named(first.signal)} differs by up to "
                f"{percent(float(apart[worst]))} ({at_step(step)}).",
                (step,),
            )
    return Seen(None, "Needs the logs of two processes with the gradient or parameter norm.")


def _by_rank(case: Case) -> list[list[Track]]:
    """Tracks of one synchronised quantity in the logs of different ranks."""
    known = [*case.timeline.tracks.values(), *case.timeline.others]
    groups = []
    for signal in _SYNCHRONISED:
        ranks = {m[1]: t for t in known if t.signal is signal and (m := _RANK.search(t.source))}
        if len(ranks) > 1:
            groups.append([ranks[r] for r in sorted(ranks)])
    return groups


def gradient_scaled_by_processes(case: Case, tolerance: float = 0.15) -> Seen:
    """At a resume the gradient norm changed by the number of processes, or its root."""
    size, sides = case.config.world_size, resumes.gradient_around(case)
    if not size or size < 2 or sides is None or sides.after <= 0:
        return Seen(None, "Needs the gradient norm on either side of a change of processes.")
    ratio = sides.after / sides.before
    factors = (float(size), 1 / size, size**0.5, size**-0.5)
    near = min(factors, key=lambda f: abs(np.log(ratio / f)))
    return Seen(
        abs(ratio / near - 1) <= tolerance,
        f"At the resume the median gradient norm became {times(ratio)} what it was; {size:,} "
        "processes take part.",
    )
