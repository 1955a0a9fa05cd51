"""Looks at a logged gradient that is a whole multiple of the replayed one."""

from forensics.case import Case
from forensics.causes._base import Seen
from forensics.causes._replayed import NO_ANSWER, NO_REPLAY, meeting_the_log, told
from forensics.phrasing import number, times
from forensics.replay_facts import Variant

NEAR = 0.1
"""Relative tolerance of a factor."""
STEADY = 1.5
"""Largest spread of a factor over the compared steps."""


def scaled_by_accumulation(case: Case) -> Seen:
    """The logged gradient is the replayed one times the number of micro-batches."""
    summed = _meets_the_log(case, Variant.MICRO_BATCHES_SUMMED)
    return summed or _scaled(case, case.config.grad_accum, "accumulated micro-batches")


def scaled_by_ranks(case: Case) -> Seen:
    """The logged gradient is the replayed one times the number of processes."""
    ranks = case.replay.ranks if case.replay is not None else None
    if ranks is not None and ranks.logged_norm is not None:
        summed = abs(ranks.logged_norm / ranks.sum_norm - 1) <= NEAR
        return Seen(
            summed,
            f"Over {ranks.world} ranks the gradient's norm is {number(ranks.mean_norm)} averaged "
            f"and {number(ranks.sum_norm)} summed; {number(ranks.logged_norm)} was logged.",
            source="replay",
        )
    met = _meets_the_log(case, Variant.RANKS_SUMMED)
    return met or _scaled(case, case.config.world_size, "processes")


def _meets_the_log(case: Case, variant: Variant) -> Seen | None:
    """With the gradient summed the replay meets the log, averaged it does not."""
    change = meeting_the_log(case, variant)
    if change is None:
        return None
    words = f"With the {told(change)} the replay meets the logged losses, as it does not otherwise."
    return Seen(True, words, source="replay")


def _scaled(case: Case, count: int | None, what: str) -> Seen:
    if case.replay is None:
        return NO_REPLAY
    moments = case.replay.moments
    ratio = _ratio(case)
    if moments is None or ratio is None or not count or count < 2:
        return NO_ANSWER
    words = f"The run's gradient is {times(ratio)} the replayed one"
    if any(abs(ratio / factor - 1) <= NEAR for factor in (float(count), 1 / count)):
        return Seen(True, f"{words}, and there are {count:,} {what}.", source="replay")
    if abs(ratio - 1) <= NEAR:
        return Seen(False, f"{words}: it was scaled rightly.", source="replay")
    return NO_ANSWER


def _ratio(case: Case) -> float | None:
    """Factor of the logged norms over the replayed ones, else of the norm that Adam was fed."""
    moments = case.replay.moments if case.replay is not None else None
    if moments is None:
        return None
    if moments.logged_ratio is not None:
        return moments.logged_ratio if (moments.logged_spread or 1.0) <= STEADY else None
    if moments.moment_ratio is not None and moments.clip_factor == 1.0:
        return moments.moment_ratio
    return None
