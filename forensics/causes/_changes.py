"""Settings to change and places to restart from, with the numbers of the run at hand."""

from functools import lru_cache
from math import floor, log10

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._looks_loss_shape import drifted
from forensics.causes._lr_ranges import OptimizerKind, documented_range, optimizer_kind
from forensics.findings import Change
from forensics.phrasing import at_step, number
from forensics.run import Axis
from forensics.signals import Signal

DEFAULT_CLIP = 1.0
LONG_RUN = 2000
"""A log of more steps than this tells enough of the length of the run."""


def restart_from(case: Case) -> str:
    """Where to start again, in words."""
    onset = case.judgement.onset_step
    if onset is None:
        return "the last checkpoint"
    earlier = [
        c for c in case.run.checkpoints if c.complete and c.step is not None and c.step < onset
    ]
    if earlier:
        best = max(earlier, key=lambda c: c.step or 0)
        return f"{best.path} ({at_step(best.step or 0)})"
    if case.run.checkpoints or onset <= facts.surely_early(case):
        return "the initial weights"
    return f"the last checkpoint before {at_step(onset)}"


def failing_stretch(case: Case, least: int = 50) -> int:
    """Optimizer steps a trial must run to have passed the failure, rounded up to fifty."""
    line = case.timeline
    onset = case.judgement.onset_step
    known = onset is not None and line.axis is Axis.STEP
    reach = least + 2 * line.interval if known else 2 * least
    return int(-(-reach // 50) * 50)


def trial(case: Case) -> str:
    """How long a trial must train to have passed the failure, in words."""
    onset = case.judgement.onset_step
    if onset is None or case.timeline.axis is Axis.STEP:
        return f"{failing_stretch(case)} steps"
    return f"until past {at_step(onset)}"


def lower_lr(case: Case) -> Change | None:
    """The rate to try next, or None where the present one is not known.

    Far above the documented range, back into it; after a drift a fifth less is enough; otherwise
    a third. What is changed is the setting, the peak that the run was to reach: a rate that broke
    it on the way there is the most that the next peak may come near.
    """
    lr, known = facts.highest_lr(case), documented_range(case)
    if lr is None or lr <= 0:
        return None
    if lr > known.high:
        target = min(known.usual, lr / 3)
    elif drifted(case).holds:
        target = 0.8 * lr
    else:
        target = lr / 3
    top = lr if case.lr is None else max(case.lr.peak, lr)
    setting = max(case.config.lr_peak or 0.0, 0.0) or float(f"{top:.6g}")
    # A recipe may multiply its setting by the batch: what was logged then lies above it.
    scale = setting / top if top > 1.01 * setting else 1.0
    return Change("learning_rate", setting, round_to(target * scale))


def clip_norm(case: Case) -> Change:
    """The threshold to clip at: the 90th percentile of the healthy norms, else 1.0."""
    target, now = _healthy_norm(case) or DEFAULT_CLIP, case.config.clip_threshold
    return Change("max_grad_norm", now, min(now, target) if now else target)


@lru_cache(maxsize=4)
def _healthy_norm(case: Case) -> float | None:
    """90th percentile of the gradient norm before the onset; cached, since many causes ask."""
    healthy = facts.before(case, Signal.GRAD_NORM, facts.break_onset(case), 20)
    if healthy is None or not np.any(healthy.value > 0):
        return None
    return round_to(float(np.percentile(healthy.value[healthy.value > 0], 90)))


def longer_warmup(case: Case) -> Change:
    """Warm-up steps: 3 % of the run, from 100 to 2,000, at most a tenth of it."""
    total, now = case.config.total_steps, facts.warmup_steps(case)
    if not total and case.timeline.last_step > LONG_RUN and facts.counts_steps(case):
        total = case.timeline.last_step
    if total:
        target = min(min(max(0.03 * total, 100), 2000), 0.1 * total)
    else:
        adaptive = optimizer_kind(case) is not OptimizerKind.PLAIN
        target = min(facts.optimizer_memory(case), 1000) if adaptive else 200
    return Change("warmup_steps", now, round(max(target, 2 * (now or 0), 1)))


def round_to(value: float, digits: int = 2) -> float:
    """A value with as many significant digits as a person would set."""
    if not value or not np.isfinite(value):
        return value
    return round(value, digits - 1 - floor(log10(abs(value))))


def lr_words(case: Case) -> str:
    """The present rate and its successor, in words."""
    change = lower_lr(case)
    if change is None:
        return "to a third of the present rate"
    return f"from {number(change.before)} to {number(change.after)}"
