"""The suspect batch against its controls: what makes the step bad, the batch or the weights."""

import math
from collections.abc import Sequence
from enum import StrEnum

from forensics.replay_facts import Comparison, ReplayFacts, Role

STANDS_OUT = 6.0
"""Robust standard deviations above the control batches from which a batch stands out.

There are eight controls, so their spread is itself known to a third only: of ordinary batches one
in 30 lies beyond 4 in loss or in gradient norm (one in 15 where losses are skewed), one in 110
beyond 6 (one in 40). Batches that alone make a run fail lie beyond 20.
"""
ORDINARY = 3.0
"""Those below which it does not; in between nothing is concluded."""
WORSE_STATE = 1.5
"""Factor by which later weights must be worse on the control batches to be called bad: training
makes them better."""


class Blame(StrEnum):
    """What makes the suspect step bad: its batch, the weights it met, or the two together."""

    DATA = "data"  # bad at both checkpoints
    BOTH = "both"  # bad at the later weights only
    STATE = "state"  # the control batches are bad as well
    NEITHER = "neither"
    DATA_OR_BOTH = "data_or_both"  # bad here; at an earlier checkpoint untried, or not clear
    OPEN = "open"  # worse than the controls, by no more than chance may make it


def first_comparison(facts: ReplayFacts) -> Comparison | None:
    """The comparison at the weights that the replay begins with."""
    return facts.comparison(Role.BEFORE) or facts.comparison(Role.INITIAL)


def stands_out(comparison: Comparison) -> bool | None:
    """Whether the suspect batch is unlike the control batches at the same weights.

    None: in between, or none of them could be measured.
    """
    suspect, controls = comparison.suspect, comparison.controls
    losses, norms = [c.loss for c in controls], [c.grad_norm for c in controls]
    told = {
        _is_far(suspect.loss, losses, comparison.loss_z),
        _is_far(suspect.grad_norm, norms, comparison.grad_z),
    }
    if True in told:
        return True
    return None if None in told else False


def blame_of(facts: ReplayFacts) -> Blame | None:
    """What the comparisons say of the suspect step; None: there are none."""
    here, earlier = first_comparison(facts), facts.comparison(Role.EARLIER)
    if here is None:
        return None
    if _is_bad(here, facts.precision) or (earlier is not None and _is_worse(here, earlier)):
        return Blame.STATE
    if not (out := stands_out(here)):
        return Blame.OPEN if out is None else Blame.NEITHER
    before = None if earlier is None else stands_out(earlier)
    if before is None:
        return Blame.DATA_OR_BOTH
    return Blame.DATA if before else Blame.BOTH


def _is_far(own: float, controls: Sequence[float], z: float) -> bool | None:
    """Of one quantity; ``z`` is its distance from the controls in robust deviations."""
    if not math.isfinite(own):
        return not _mostly_broken(controls)
    if math.isnan(z):
        return None
    return True if z >= STANDS_OUT else (False if z < ORDINARY else None)


def _is_bad(comparison: Comparison, precision: str) -> bool:
    """True where most control batches are not finite.

    In fp16 an infinite gradient alone is no harm: the scaler skips the step and lowers its scale.
    """
    broken = _mostly_broken([c.loss for c in comparison.controls])
    norms = _mostly_broken([c.grad_norm for c in comparison.controls])
    return broken or (norms and precision != "fp16")


def _mostly_broken(values: Sequence[float]) -> bool:
    return 2 * sum(not math.isfinite(v) for v in values) > len(values)


def _is_worse(later: Comparison, earlier: Comparison) -> bool:
    return later.control_loss > max(WORSE_STATE * earlier.control_loss, 0.0)
