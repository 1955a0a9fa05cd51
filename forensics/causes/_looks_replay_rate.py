"""Looks at which replayed change of rate, warm-up, clipping or decay removes the failure."""

import math

from forensics.case import Case
from forensics.causes._base import Seen
from forensics.causes._replayed import (
    NO_ANSWER,
    from_first_step,
    not_tried,
    removing,
    stands_out,
    told,
    tried,
)
from forensics.phrasing import number, percent
from forensics.replay_facts import Counterfactual, Variant

LOWER = (Variant.RATE_THIRD, Variant.RATE_TENTH)
CLIPPED = (Variant.CLIP_ONE, Variant.CLIP_P90)
MOSTLY = 0.5
"""Share of clipped steps from which clipping is a lower rate by another name (tuning playbook)."""
PEAK = 10.0
"""Gradient norm over its median from which a step is an outlier."""


def lower_rate_removes(case: Case) -> Seen:
    """At a lower rate it does not fail, and nothing smaller than that helps."""
    if not tried(case, *LOWER):
        return not_tried(case)
    change = removing(case, *LOWER)
    if change is None:
        return Seen(False, "A third and a tenth of the rate fail all the same.", source="replay")
    smaller = _smaller_change(case)
    if smaller is not None:
        return NO_ANSWER
    return Seen(
        True, f"With {told(change)} the failure does not come.{_critical(case)}", source="replay"
    )


def warmup_removes(case: Case) -> Seen:
    """Warmed up, the same peak rate holds."""
    if not tried(case, Variant.WARMUP):
        return not_tried(case)
    change = removing(case, Variant.WARMUP)
    if change is None:
        return Seen(False, "Warmed up, it fails all the same.", source="replay")
    if not from_first_step(case) or _batch_removes(case):
        return NO_ANSWER
    return Seen(True, f"With {told(change)} the failure does not come.", source="replay")


def clipping_removes(case: Case) -> Seen:
    """With clipping that seldom acts it does not fail."""
    changes = tried(case, *CLIPPED)
    if not changes:
        return not_tried(case)
    effective = [c for c in changes if c.removes]
    if not effective:
        return Seen(False, "With clipping it fails all the same.", source="replay")
    change = min(effective, key=clipped_share)
    if clipped_share(change) > MOSTLY or _overshoots(case) or _more_telling(case):
        return NO_ANSWER
    return Seen(
        True,
        f"With {told(change)} the failure does not come; the clip acts on "
        f"{percent(clipped_share(change))} of the steps.",
        source="replay",
    )


def no_decay_removes(case: Case) -> Seen:
    """Without weight decay it does not fail, at the same rate."""
    if not tried(case, Variant.NO_DECAY):
        return not_tried(case)
    change = removing(case, Variant.NO_DECAY)
    if change is None:
        return Seen(False, "Without weight decay it fails all the same.", source="replay")
    return Seen(True, f"With {told(change)} the failure does not come.", source="replay")


def higher_rate_removes(case: Case) -> Seen:
    """At ten times the rate the loss falls that stood still."""
    if not tried(case, Variant.RATE_TEN_TIMES):
        return NO_ANSWER
    change = removing(case, Variant.RATE_TEN_TIMES)
    if change is None:
        return Seen(False, "At ten times the rate the loss stands still as well.", source="replay")
    return Seen(True, f"With {told(change)} the loss falls.", source="replay")


def beyond_critical_rate(case: Case) -> Seen:
    """An ordinary update is longer than the distance over which the loss falls."""
    line = case.replay.line if case.replay is not None else None
    if line is None or math.isnan(line.critical):
        return NO_ANSWER
    return Seen(
        line.critical < 1.0,
        f"Along an ordinary update the loss falls up to {number(line.critical)} times the run's "
        "rate.",
        source="replay",
    )


def clipped_share(change: Counterfactual) -> float:
    """Share of the replayed steps on which the clip of this change acts, 0 to 1."""
    if change.clip is None:
        return math.nan
    norms = change.trajectory.grad_norm
    return sum(not norm <= change.clip for norm in norms) / max(1, len(norms))


def _smaller_change(case: Case) -> Counterfactual | None:
    """A change that helps and leaves the rate alone, so that the rate is not to blame."""
    if _batch_removes(case):
        return removing(case, Variant.SKIP_BATCH)
    smaller = (Variant.FLOAT32, Variant.NO_DECAY, Variant.FRESH_MOMENTS, Variant.BETA2)
    found = removing(case, *smaller)
    if found is None and from_first_step(case):
        found = removing(case, Variant.WARMUP)
    clip = removing(case, *CLIPPED)
    if found is None and clip is not None and not _overshoots(case):
        found = clip if clipped_share(clip) <= MOSTLY else None
    return found


def _batch_removes(case: Case) -> bool:
    return removing(case, Variant.SKIP_BATCH) is not None and stands_out(case) is not False


def _more_telling(case: Case) -> bool:
    """Clipping hides what another change shows to be the cause."""
    return removing(case, Variant.FLOAT32, Variant.FRESH_MOMENTS, Variant.BETA2) is not None or (
        from_first_step(case) and removing(case, Variant.WARMUP) is not None
    )


def _overshoots(case: Case) -> bool:
    line = case.replay.line if case.replay is not None else None
    return line is not None and line.critical < 1.0


def _critical(case: Case) -> str:
    line = case.replay.line if case.replay is not None else None
    if line is None or not math.isfinite(line.critical):
        return ""
    return f" Along an ordinary update the loss falls up to {number(line.critical)} times the rate."
