"""Which of the smaller measurements have a result that is not the usual one."""

import math
from collections.abc import Iterator
from enum import StrEnum

from forensics.replay_facts import LabelShifts, ReplayFacts

FACTOR = 2.0
"""A ratio of norms that is off by less comes from a batch that is larger or smaller than others."""
STALE = 5.0
"""RMS_t from which the second moment does not describe the gradient (its usual value is 1)."""
MODES_APART = 1.5
"""Loss in evaluation over that in training mode from which running statistics do not fit."""
FITS_BETTER = 0.8
"""Share of the labels' own loss that they must cost elsewhere to belong there: an untrained model
prefers one place to another by chance."""


class Check(StrEnum):
    """Measurements that have a usual result."""

    LOAD = "load"
    CONTENTS = "contents"
    DETERMINISM = "determinism"
    LINE = "line"
    MOMENTS = "moments"
    SHIFTS = "shifts"
    OVERFIT = "overfit"
    MODES = "modes"
    RANKS = "ranks"


def odd(facts: ReplayFacts) -> Iterator[Check]:
    """Each measurement whose result is not the usual one."""
    if any(not load.fits or load.optimizer is False for load in facts.loads):
        yield Check.LOAD
    audit = facts.audit
    if audit is not None and (audit.everywhere or any(a.findings for a in audit.suspects)):
        yield Check.CONTENTS
    if facts.determinism is not None and facts.determinism.equal_share < 1:
        yield Check.DETERMINISM
    if facts.line is not None and facts.line.critical < 1:
        yield Check.LINE
    if _moments_are_off(facts):
        yield Check.MOMENTS
    if facts.shifts is not None and _are_shifted(facts.shifts):
        yield Check.SHIFTS
    if facts.overfit is not None and not facts.overfit.falls:
        yield Check.OVERFIT
    modes = facts.modes
    if modes is not None and not modes.eval_loss <= MODES_APART * modes.train_loss:
        yield Check.MODES
    if _ranks_are_off(facts):
        yield Check.RANKS


def _are_shifted(shifts: LabelShifts) -> bool:
    here = shifts.losses.get(0, math.inf)
    return shifts.best != 0 and shifts.losses[shifts.best] < FITS_BETTER * here


def _moments_are_off(facts: ReplayFacts) -> bool:
    moments = facts.moments
    if moments is None:
        return False
    clipped = (moments.moment_ratio or 1.0) / (moments.clip_factor or 1.0)
    ratios = [r for r in (moments.logged_ratio, clipped) if r is not None and math.isfinite(r)]
    stale = any(usual >= STALE for usual in moments.control_rms.values())
    return stale or any(not 1 / FACTOR < ratio < FACTOR for ratio in ratios)


def _ranks_are_off(facts: ReplayFacts) -> bool:
    """True where the ranks part, or their gradient is rather a sum or one rank's than the mean."""
    ranks = facts.ranks
    if ranks is None:
        return False
    ways = (ranks.mean_norm, ranks.sum_norm, ranks.alone_norm)
    norms = [n for n in (ranks.reduced_norm, ranks.logged_norm) if n and math.isfinite(n)]
    return not ranks.weights_agree or any(
        min(ways, key=lambda way: abs(math.log(max(way, 1e-30) / norm))) != ranks.mean_norm
        for norm in norms
    )
