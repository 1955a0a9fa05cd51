"""Looks at the weights a run began with, as the first checkpoint still shows them."""

from math import prod

import numpy as np

from forensics.case import Case
from forensics.causes import _checkpoints as saved
from forensics.causes import _facts as facts
from forensics.causes._base import Seen
from forensics.causes._lr_ranges import OptimizerKind, optimizer_kind
from forensics.checkpoint_facts import CheckpointFacts, WeightFacts
from forensics.phrasing import count, number
from forensics.signals import Signal

NEEDED = "Needs the weights of an early checkpoint (scan it)."
GAIN = 4.0
"""Common initialisations give RMS x sqrt(inputs) of 0.6 (uniform, torch) to 1.4 (He et al.)."""


def weights_oversized(case: Case, gain: float = GAIN) -> Seen:
    """The usual matrix is many times as large as initialised, more than the steps can have added.

    An optimizer of Adam's kind moves a weight by at most about the learning rate a step. What is
    somewhat larger than initialised speaks neither way.
    """
    first = _first(case)
    if first is None:
        return saved.seen(None, NEEDED)
    sizes = [(w.rms * _inputs(w) ** 0.5, w.rms) for w in _hidden(first, case)]
    if not sizes:
        return saved.NOTHING_TO_SEE
    scaled, rms = (float(np.median([s[i] for s in sizes])) for i in (0, 1))
    reach = _travelled(case, first.step or 0)
    if scaled > gain and reach is None:
        return saved.seen(None, "Needs the learning rates up to the first checkpoint.")
    if gain / 2 < scaled <= gain:
        return saved.NOTHING_TO_SEE
    return saved.seen(
        scaled > gain and rms > (reach or 0.0),
        f"In {first.checkpoint} the median matrix has the RMS {number(rms)}, {number(scaled)} over "
        "the root of its inputs; common initialisations give 0.6 to 1.4.",
    )


def units_alike(case: Case, share: float = 0.7) -> Seen:
    """The units of nearly every layer are copies of each other, or all zero, ever since."""
    found = saved.sound(case) or saved.finite(() if case.survey is None else _every(case))
    if not found:
        return saved.seen(None, NEEDED)
    last = found[-1]
    matrices = [w for w in _hidden(last, case) if w.row_median > 0 or w.rms == 0]
    if len(matrices) < 2 or case.config.lora:
        return saved.NOTHING_TO_SEE
    alike = [w for w in matrices if w.rms == 0 or w.row_max <= (1 + 1e-5) * w.row_median]
    verb = "are all zero or all alike"
    return saved.seen(
        len(alike) >= share * len(matrices),
        f"In {last.checkpoint} the units of {len(alike):,} of {count(len(matrices), 'layer')} "
        f"{verb}.",
    )


def _every(case: Case) -> tuple[CheckpointFacts, ...]:
    return () if case.survey is None else case.survey.checkpoints


def _first(case: Case) -> CheckpointFacts | None:
    found = saved.finite(_every(case))
    return found[0] if found else None


def _hidden(checkpoint: CheckpointFacts, case: Case) -> list[WeightFacts]:
    """Matrices between layers: tables of tokens and classes have sizes of their own."""
    return [
        w
        for w in saved.matrices(checkpoint)
        if w.read >= 64 and not saved.is_vocabulary(w.name, w.shape, case)
    ]


def _inputs(weights: WeightFacts) -> int:
    """Inputs of a unit; of a matrix the shorter side, since it may be stored either way."""
    return min(weights.shape) if len(weights.shape) == 2 else prod(weights.shape[1:])


def _travelled(case: Case, step: int) -> float | None:
    """The furthest that Adam can have moved a weight by a step; None where that is not known."""
    if optimizer_kind(case) is not OptimizerKind.ADAPTIVE:
        return None
    logged = facts.before(case, Signal.LR, step + 1)
    if logged is not None and len(logged) > 1:
        widths = np.diff(logged.step, prepend=min(0, int(logged.step[0])))
        return float(np.sum(widths * logged.value))
    peak = facts.highest_lr(case)
    return None if peak is None else peak * step
