"""What the replay showed, read in the same way by every look that asks."""

import math

from forensics import replay_reading
from forensics.batch_facts import BatchFinding, Oddity
from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import Seen
from forensics.replay_facts import Comparison, Counterfactual, ReplayFacts, Variant

NO_REPLAY = Seen(None, "Needs a replay (--replay FILE).", source="replay")
NO_ANSWER = Seen(None, source="replay")
"""The replay does not bear on it."""
LEAST_CALM = 3
"""Steps just before a failure that must be ordinary."""
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


def innocent(case: Case) -> bool:
    """The run's own settings, from the run's own state, do not fail: something else did it.

    From fresh weights that are not the run's own a failure that does not come again tells nothing.
    """
    replay = replayed(case)
    if replay is None or replay.as_run is None or replay.as_run.reproduces is not False:
        return False
    return bool(replay.checkpoint) or replay.as_run.exact > 0


def calm_until(case: Case, step: int) -> bool:
    """The replayed losses and gradients before a step are ordinary: it did not grow out of them."""
    replay = replayed(case)
    if replay is None or replay.as_run is None:
        return True
    run = replay.as_run.trajectory
    before = [i for i, s in enumerate(run.steps) if s < step]
    if len(before) < LEAST_CALM:
        return True
    for values, factor in ((run.loss, 2.0), (run.grad_norm, 10.0)):
        usual = sorted(values[i] for i in before)[len(before) // 2]
        if max(values[i] for i in before[-LEAST_CALM:]) > factor * abs(usual):
            return False
    return True


def tried(case: Case, *variants: Variant) -> list[Counterfactual]:
    """Of these changes those that settle something: they remove a failure that comes again, or not.

    What the budget cut short has not failed to help.
    """
    replay = replayed(case)
    told = [] if replay is None else replay_reading.settled(replay)
    return [c for c in told if c.variant in variants]


def not_tried(case: Case) -> Seen:
    """Without a failure to remove, the settings are not to blame."""
    if replayed(case) is None:
        return NO_REPLAY
    if innocent(case):
        return Seen(
            False, "Replayed with the run's own settings it does not fail.", source="replay"
        )
    return NO_ANSWER


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
    return None if comparison is None else replay_reading.stands_out(comparison)


def first_comparison(case: Case) -> Comparison | None:
    """The comparison at the weights that the replay begins with."""
    return None if case.replay is None else replay_reading.first_comparison(case.replay)


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
    chance, untrained = facts.chance_loss(case), facts.initial_loss(case)
    levels = [v for v in (untrained, chance[0] if chance else None) if v is not None]
    loss = _suspect_loss(case)
    if loss is None or not levels or not math.isfinite(loss):
        return None
    return loss > factor * max(levels)


def _suspect_loss(case: Case) -> float | None:
    """Of the suspect batch at the weights that met it, else at those the replay begins with."""
    replay, comparison = replayed(case), first_comparison(case)
    if replay is not None and replay.as_run is not None:
        run = replay.as_run.trajectory
        met = dict(zip(run.steps, run.loss, strict=True))
        if replay.suspect_step in met:
            return met[replay.suspect_step]
    return comparison.suspect.loss if comparison is not None else None


def from_first_step(case: Case) -> bool:
    """The stretch begins with fresh weights, or before Adam's moments are full."""
    replay = case.replay
    return replay is not None and not replay.checkpoint


def meeting_the_log(case: Case, *variants: Variant) -> Counterfactual | None:
    """The change with which the replay meets a log that it does not meet otherwise, if of these."""
    replay = replayed(case)
    found = () if replay is None else replay_reading.closest(replay)
    return next((c for c in found if c.variant in variants), None)
