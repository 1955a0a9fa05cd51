"""What the replay showed, read in the same way by every look that asks."""

import math

from forensics.batch_facts import BatchFinding, Oddity
from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import Seen
from forensics.replay_facts import Comparison, Counterfactual, ReplayFacts, Role, Variant

NO_REPLAY = Seen(None, "Needs a replay (--replay FILE).", source="replay")
NO_ANSWER = Seen(None, source="replay")
"""The replay does not bear on it."""
OUTLIER = 6.0
"""Robust standard deviations from which the suspect batch stands out from its neighbours."""
ORDINARY = 3.0
"""Those up to which it does not."""
SPECIFIC = frozenset(
    {
        Oddity.NON_FINITE_INPUT,
        Oddity.LABEL_OUT_OF_RANGE,
        Oddity.LABELS_ALL_MASKED,
        Oddity.TOKEN_OUT_OF_RANGE,
        Oddity.OVERLONG,
        Oddity.INPUT_SCALE,
    }
)
"""Oddities that have a cause of their own."""


def replayed(case: Case) -> ReplayFacts | None:
    """The facts, where a stretch of training was replayed at all."""
    replay = case.replay
    return replay if replay is not None and replay.as_run is not None else None


def reproduces(case: Case) -> bool | None:
    """Whether the failure came again with the run's own settings."""
    replay = replayed(case)
    return replay.as_run.reproduces if replay is not None and replay.as_run is not None else None


def tried(case: Case, *variants: Variant) -> list[Counterfactual]:
    """Of these changes those that were run, of a failure that reproduces."""
    replay = replayed(case)
    if replay is None or not reproduces(case):
        return []
    return [c for c in replay.counterfactuals if c.variant in variants]


def removing(case: Case, *variants: Variant) -> Counterfactual | None:
    """The first of these changes by which the failure goes away."""
    return next((c for c in tried(case, *variants) if c.removes), None)


def told(change: Counterfactual) -> str:
    """``lr 0.01 to 0.003``: what was changed."""
    return f"{change.setting} from {change.before} to {change.after}"


def suspect_step(case: Case) -> int | None:
    """The step whose batch was suspected."""
    return case.replay.suspect_step if case.replay is not None else None


def stands_out(case: Case) -> bool | None:
    """The suspect batch against its neighbours at the last healthy weights: None in between."""
    comparison = first_comparison(case)
    if comparison is None:
        return None
    worst = max(comparison.loss_z, comparison.grad_z)
    if math.isnan(worst):
        return None
    if worst >= OUTLIER:
        return True
    return False if worst < ORDINARY else None


def first_comparison(case: Case) -> Comparison | None:
    """The comparison at the weights that the replay begins with."""
    if case.replay is None:
        return None
    return case.replay.comparison(Role.BEFORE) or case.replay.comparison(Role.INITIAL)


def oddities(case: Case) -> tuple[BatchFinding, ...] | None:
    """What the contents of the suspect batches show; None where they were not audited."""
    survey = case.batches
    if survey is None or not survey.suspects:
        return None
    return tuple(finding for audit in survey.suspects for finding in audit.findings)


def worse_than_untrained(case: Case, factor: float = 1.1) -> bool | None:
    """The trained model does worse on the suspect batch than an untrained one would.

    What is merely hard is at worst unknown to the model; labels or contents that contradict what it
    has learned cost more than knowing nothing.
    """
    comparison, untrained = first_comparison(case), facts.initial_loss(case)
    chance = facts.chance_loss(case)
    levels = [v for v in (untrained, chance[0] if chance else None) if v is not None]
    if comparison is None or not levels or not math.isfinite(comparison.suspect.loss):
        return None
    return comparison.suspect.loss > factor * max(levels)


def from_first_step(case: Case) -> bool:
    """The stretch begins with fresh weights, or before Adam's moments are full."""
    replay = case.replay
    return replay is not None and not replay.checkpoint
