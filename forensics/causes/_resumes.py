"""Which resume to talk about, and what was measured on either side of it."""

from dataclasses import dataclass

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.findings import Episode, EpisodeKind
from forensics.run import TextKind
from forensics.signals import Signal


@dataclass(frozen=True)
class Sides:
    """A quantity just before and just after a resume."""

    before: float
    after: float


def resume_step(case: Case) -> int | None:
    """First step of the attempt in which the failure began; of the first one where none failed.

    A schedule that began again gives a resume away of which the log says nothing.
    """
    steps = [r.step for r in case.timeline.resumes]
    if not steps and case.lr is not None:
        steps = list(case.lr.restarts)
    onset = case.judgement.onset_step
    earlier = steps if onset is None else [s for s in steps if s <= onset + case.timeline.interval]
    if onset is None or not earlier:
        return min(steps, default=None)
    return max(earlier)


def was_resumed(case: Case) -> bool | None:
    """True where the run continued an earlier one; None where the log begins too late to tell."""
    if case.timeline.resumes or case.text_of(TextKind.RESUMED) or case.config.resume_from:
        return True
    if case.lr is not None and case.lr.restarts:
        return True
    if not case.timeline.tracks or not facts.counts_steps(case):
        return None
    return False if facts.starts_at_beginning(case) else None


def jump_at_resume(case: Case) -> Episode | None:
    """The discontinuity of the loss at the resume in question, else at any."""
    found = case.episodes_of(EpisodeKind.RESUME_JUMP)
    at = resume_step(case)
    near = [e for e in found if at is not None and abs(e.onset_step - at) <= 10]
    return next(iter(near or found), None)


def rate_around(case: Case) -> Sides | None:
    """Learning rate in the last point before the resume and the first one after it."""
    at = resume_step(case)
    if at is not None and case.lr is not None and at in case.lr.restarts:
        return _around_restart(case, at)
    jump = jump_at_resume(case)
    if jump is not None and None not in (
        jump.details.get("lr_before"),
        jump.details.get("lr_after"),
    ):
        return Sides(float(jump.details["lr_before"]), float(jump.details["lr_after"]))
    before = None if at is None else facts.before(case, Signal.LR, at)
    after = None if at is None else facts.since(case, Signal.LR, at)
    if before is None or after is None:
        return None
    return Sides(float(before.value[-1]), float(after.value[0]))


def _around_restart(case: Case, at: int) -> Sides | None:
    """A schedule that began again: the last rate before, and the first after or the peak it meets.

    Where its warm-up happens to begin at the old rate, the peak tells them apart.
    """
    before, after = facts.before(case, Signal.LR, at), facts.since(case, Signal.LR, at)
    if before is None or after is None:
        return None
    was, now = float(before.value[-1]), float(after.value[0])
    return Sides(was, now if now < 0.5 * was else float(after.value.max()))


def gradient_around(case: Case, width: int = 16) -> Sides | None:
    """Median gradient norm of ``width`` points on either side of the resume."""
    at = resume_step(case)
    before = None if at is None else facts.before(case, Signal.GRAD_NORM, at, 4)
    after = None if at is None else facts.since(case, Signal.GRAD_NORM, at, 4)
    if before is None or after is None:
        return None
    was = float(np.median(before.value[-width:]))
    return Sides(was, float(np.median(after.value[:width]))) if was > 0 else None
