"""The stability checklist, held against this run's own configuration.

A line is `good` where the run follows the rule, not good where it breaks it, and None where the
run does not say: what is unknown is never called fine.
"""

from itertools import pairwise

from forensics.advice._levels import planned_steps
from forensics.advice._rate_checks import UNKNOWN, peak_rate, schedule, warmup
from forensics.case import Case
from forensics.phrasing import count, number, percent, stretch, unit
from forensics.signals import Signal
from forensics.verdict import CheckItem


def checklist_for(case: Case) -> tuple[CheckItem, ...]:
    """Every line of the list, in the order in which to mend them."""
    checks = (
        clipping,
        clipped_share,
        schedule,
        warmup,
        precision,
        peak_rate,
        gradient_norm,
        shown_as_is,
        checkpoints_often,
        checkpoints_kept,
    )
    return tuple(check(case) for check in checks)


def clipping(case: Case, lowest: float = 0.1, highest: float = 2.0) -> CheckItem:
    """A cap on the global gradient norm."""
    threshold = case.config.clip_threshold
    if threshold is None and case.clip is not None:
        threshold = case.clip.threshold
    found = (
        UNKNOWN if threshold is None else f"clipped at {number(threshold)}" if threshold else "off"
    )
    good = None if threshold is None else lowest <= threshold <= highest
    return CheckItem("Gradient clipping", "clip the global gradient norm near 1.0", found, good)


def clipped_share(case: Case, most: float = 0.2) -> CheckItem:
    """Clipping is a seat belt; a run that leans on it all the time is steering too hard."""
    advice = f"at most about {percent(most)} of steps reach the threshold; above, lower the rate"
    if case.config.clip_threshold == 0:
        return CheckItem("Clipped steps", advice, "none, clipping is off", None)
    share = None if case.clip is None else case.clip.share
    found = UNKNOWN if share is None else f"{percent(share)} of logged steps"
    return CheckItem("Clipped steps", advice, found, None if share is None else share <= most)


def precision(case: Case) -> CheckItem:
    """The number format of the forward and backward pass."""
    used = case.config.precision
    good = None if used is None else used not in ("fp16", "fp8")
    return CheckItem(
        "Precision", "bf16 rather than fp16 where the hardware has it", used or UNKNOWN, good
    )


def gradient_norm(case: Case) -> CheckItem:
    """Logged at all, and not a column of zeros that stands for 'not measured'."""
    track = case.track(Signal.GRAD_NORM)
    advice = "log the gradient norm before clipping, at every step"
    if track is None:
        return CheckItem("Gradient norm", advice, "not logged", False)
    if not bool((track.value != 0).any()):
        return CheckItem("Gradient norm", advice, "logged as 0 throughout: not measured", False)
    interval = round(track.interval)
    often = f"every {unit()}" if interval <= 1 else f"every {stretch(interval)}"
    return CheckItem("Gradient norm", advice, f"logged {often}", True)


def shown_as_is(case: Case) -> CheckItem:
    """Transformers' ``logging_nan_inf_filter`` writes a plausible loss for a NaN."""
    hidden = case.config.nan_filter
    found = UNKNOWN if hidden is None else "filtered out of the log" if hidden else "shown"
    advice = "let NaN and infinity show in the log (logging_nan_inf_filter=False)"
    return CheckItem("Non-finite values", advice, found, None if hidden is None else not hidden)


def checkpoints_often(case: Case, most: float = 0.1) -> CheckItem:
    """How much work one failure costs."""
    every = case.config.save_interval or _observed_interval(case)
    total = _length(case)
    advice = f"save at least every {percent(most)} of the run"
    if every is None or total <= 0:
        found = "none found" if not case.run.checkpoints else UNKNOWN
        return CheckItem("Checkpoint interval", advice, found, None)
    often = every <= most * total
    return CheckItem("Checkpoint interval", advice, f"every {stretch(every)}", often)


def checkpoints_kept(case: Case, fewest: int = 3) -> CheckItem:
    """The newest one may already hold the damage."""
    limit, kept = case.config.save_total_limit, len(case.run.checkpoints)
    advice = f"keep the last {fewest} or more"
    if limit is None and not kept:
        return CheckItem("Checkpoints kept", advice, UNKNOWN, None)
    found = f"{count(kept, 'checkpoint')} found"
    if limit is not None:
        return CheckItem(
            "Checkpoints kept", advice, f"{found}, at most {limit} kept", limit >= fewest
        )
    return CheckItem("Checkpoints kept", advice, found, True if kept >= fewest else None)


def _length(case: Case) -> float:
    """How long the run was to be: planned, else from its first point to the end of its last."""
    line, planned = case.timeline, planned_steps(case)
    logged = line.last_step - line.first_step + line.interval if line.tracks else 0
    return max(planned or 0, logged)


def _observed_interval(case: Case) -> int | None:
    steps = sorted({c.step for c in case.run.checkpoints if c.step is not None})
    gaps = sorted(b - a for a, b in pairwise(steps))
    return gaps[len(gaps) // 2] if gaps else None
