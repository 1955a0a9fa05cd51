"""Whether the failure came again, and which change of one variable removes or explains it."""

from enum import StrEnum

from forensics.replay_facts import Counterfactual, ReplayFacts, Variant

CLOSER = 0.3
"""A change explains the log where its losses lie within this share of the distance that the run's
own settings leave. The fault itself leaves rounding alone, and up to a quarter where training
diverges and rounding grows; a change that merely damps or disturbs it can leave half."""

GENTLEST_FIRST = (
    Variant.SKIP_BATCH,  # touches one step
    Variant.CLIP_ONE,  # touches the exceptional steps
    Variant.CLIP_P90,
    Variant.EPSILON,  # touches the tensors whose second moment is small
    Variant.BETA2,
    Variant.WARMUP,  # touches a stretch of steps
    Variant.NO_DECAY,
    Variant.RATE_THIRD,  # touches every step
    Variant.RATE_TENTH,
    Variant.RATE_TEN_TIMES,
    Variant.BFLOAT16,
    Variant.FLOAT32,
    Variant.FROM_STEP_ONE,
    Variant.FRESH_MOMENTS,
    Variant.MICRO_BATCHES_SUMMED,
    Variant.RANKS_SUMMED,
)
"""From the change that leaves most of the training as it was to the one that leaves least."""


class Repeat(StrEnum):
    """Whether the failure came again on the same data with the run's own settings."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not_reproduced"
    NOT_REACHED = "not_reached"  # the stretch ended before the onset
    NOTHING_FAILED = "nothing_failed"  # there was no failure to reproduce
    NOT_REPLAYED = "not_replayed"


def repeat_of(facts: ReplayFacts) -> Repeat:
    """Whether the failure came again."""
    if facts.as_run is None:
        return Repeat.NOT_REPLAYED
    if facts.as_run.reproduces is None:
        steps = facts.as_run.trajectory.steps
        short = facts.suspect_step is not None and (not steps or steps[-1] < facts.suspect_step)
        return Repeat.NOT_REACHED if short else Repeat.NOTHING_FAILED
    return Repeat.REPRODUCED if facts.as_run.reproduces else Repeat.NOT_REPRODUCED


def gentlest_first(facts: ReplayFacts) -> list[Counterfactual]:
    """Every change that was tried, the smallest first."""
    return sorted(facts.counterfactuals, key=lambda c: GENTLEST_FIRST.index(c.variant))


def settled(facts: ReplayFacts) -> list[Counterfactual]:
    """Changes that removed a failure that comes again, or ran to the end and did not."""
    if repeat_of(facts) is not Repeat.REPRODUCED:
        return []
    return [c for c in gentlest_first(facts) if c.removes or c.trajectory.complete]


def closest(facts: ReplayFacts) -> tuple[Counterfactual, ...]:
    """The change that explains a log which the run's own settings do not bring about.

    Several only where they are the same to the last digit (four micro-batches, or four ranks).
    """
    own = facts.as_run.matches_log if facts.as_run is not None else None
    far = [(c.matches_log, c) for c in gentlest_first(facts) if c.matches_log is not None]
    if own is None or not far or repeat_of(facts) is Repeat.REPRODUCED:
        return ()
    best = min(distance for distance, _ in far)
    return tuple(c for distance, c in far if distance == best < CLOSER * own)
