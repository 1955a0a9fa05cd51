"""What a replay settles: judged from its facts, not yet in words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from forensics.replay_facts import Comparison, Counterfactual, ReplayFacts, Role, Variant

STANDS_OUT = 4.0
"""Robust standard deviations above the control batches from which a batch stands out."""
WORSE_STATE = 1.5
"""Factor by which later weights must be worse on the control batches to be called bad: training
makes them better."""
FACTOR = 2.0
"""A ratio of norms that is off by less comes from a batch that is larger or smaller than others."""
CLOSER = 0.5
"""A change explains the log where its losses lie within this share of the distance that the run's
own settings leave."""
STALE = 5.0
"""RMS_t from which the second moment does not describe the gradient (its usual value is 1)."""
MODES_APART = 1.5
"""Loss in evaluation over that in training mode from which running statistics do not fit."""

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


class Blame(StrEnum):
    """What makes the suspect step bad: its batch, the weights it met, or the two together."""

    DATA = "data"  # bad at both checkpoints
    BOTH = "both"  # bad at the later weights only
    STATE = "state"  # the control batches are bad as well
    NEITHER = "neither"
    DATA_OR_BOTH = "data_or_both"  # bad, but there was only one checkpoint to try it at


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


@dataclass(frozen=True)
class ReplayReading:
    """The facts of a replay, judged."""

    repeat: Repeat
    removed_by: tuple[Counterfactual, ...]
    """Changes after which the failure does not come, the smallest first."""
    kept_by: tuple[Counterfactual, ...]
    """Changes after which it comes all the same."""
    undecided: tuple[Counterfactual, ...]
    """Changes that the budget cut short, or all where nothing was there to be removed."""
    closest: Counterfactual | None
    """The change that explains the log, where the failure did not come again by itself."""
    blame: Blame | None
    """None: the suspect was not compared."""
    needs_precision: bool | None
    """True where the step is finite in float32 alone; None: not tried, or finite in both."""
    odd: frozenset[Check]
    """Measurements whose result is not the usual one."""


def read_replay(facts: ReplayFacts) -> ReplayReading:
    """Judge the facts of a replay."""
    repeat = _repeat(facts)
    failed = repeat is Repeat.REPRODUCED
    ordered = sorted(facts.counterfactuals, key=lambda c: GENTLEST_FIRST.index(c.variant))
    settled = [c for c in ordered if failed and (c.removes or c.trajectory.complete)]
    return ReplayReading(
        repeat=repeat,
        removed_by=tuple(c for c in settled if c.removes),
        kept_by=tuple(c for c in settled if not c.removes),
        undecided=tuple(c for c in ordered if c not in settled),
        closest=_closest(facts) if repeat is Repeat.NOT_REPRODUCED else None,
        blame=_blame(facts),
        needs_precision=_needs_precision(facts),
        odd=frozenset(_odd(facts)),
    )


def stands_out(comparison: Comparison) -> bool:
    """True where the suspect batch is unlike the control batches at the same weights."""
    suspect, controls = comparison.suspect, comparison.controls
    for own, usual in (
        (suspect.loss, [c.loss for c in controls]),
        (suspect.grad_norm, [c.grad_norm for c in controls]),
    ):
        if not math.isfinite(own):
            return not _mostly_broken(usual)
    return comparison.loss_z >= STANDS_OUT or comparison.grad_z >= STANDS_OUT


def _repeat(facts: ReplayFacts) -> Repeat:
    if facts.as_run is None:
        return Repeat.NOT_REPLAYED
    if facts.as_run.reproduces is None:
        steps = facts.as_run.trajectory.steps
        short = facts.suspect_step is not None and (not steps or steps[-1] < facts.suspect_step)
        return Repeat.NOT_REACHED if short else Repeat.NOTHING_FAILED
    return Repeat.REPRODUCED if facts.as_run.reproduces else Repeat.NOT_REPRODUCED


def _closest(facts: ReplayFacts) -> Counterfactual | None:
    own = facts.as_run.matches_log if facts.as_run is not None else None
    near = [(c.matches_log, c) for c in facts.counterfactuals if c.matches_log is not None]
    if own is None or not near:
        return None
    distance, change = min(near, key=lambda item: item[0])
    return change if distance <= CLOSER * own else None


def _blame(facts: ReplayFacts) -> Blame | None:
    here = facts.comparison(Role.BEFORE) or facts.comparison(Role.INITIAL)
    earlier = facts.comparison(Role.EARLIER)
    if here is None:
        return None
    if _is_bad(here, facts.precision) or (earlier is not None and _is_worse(here, earlier)):
        return Blame.STATE
    if not stands_out(here):
        return Blame.NEITHER
    if earlier is None:
        return Blame.DATA_OR_BOTH
    return Blame.DATA if stands_out(earlier) else Blame.BOTH


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


def _needs_precision(facts: ReplayFacts) -> bool | None:
    found = {search.precision: search.found is not None for search in facts.searches}
    full = found.pop("fp32", None)
    if full is None or not any(found.values()):
        return None
    return not full


def _odd(facts: ReplayFacts) -> Iterator[Check]:
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
    if facts.shifts is not None and facts.shifts.best != 0:
        yield Check.SHIFTS
    if facts.overfit is not None and not facts.overfit.falls:
        yield Check.OVERFIT
    modes = facts.modes
    if modes is not None and not modes.eval_loss <= MODES_APART * modes.train_loss:
        yield Check.MODES
    if _ranks_are_off(facts):
        yield Check.RANKS


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
