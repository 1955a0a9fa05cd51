"""Looks at resumes: what the new attempt did not take over from the old one."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes import _resumes as resumes
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_text import quote
from forensics.findings import Ending
from forensics.phrasing import at_step, number, stretch, times
from forensics.run import TextKind
from forensics.signals import Signal


def resumed(case: Case) -> Seen:
    """The run continued from a checkpoint."""
    known, at = resumes.was_resumed(case), resumes.resume_step(case)
    if known is None:
        return Seen(None, "Needs the log of what came before, or the settings of the start.")
    if not known:
        return Seen(False, "The log goes through from its first step, without a resume.")
    if at is not None:
        return Seen(True, f"Training resumed at {at_step(at)}.", (at,))
    lines = case.text_of(TextKind.RESUMED)
    text = quote(lines[0]) if lines else f"It resumed from {case.config.resume_from}."
    return Seen(True, text, source="text" if lines else "configuration")


def soon_after_resume(case: Case, steps: int = 10) -> Seen:
    """The failure began within ten steps of the resume (or in its first logged point)."""
    onset, at = case.judgement.onset_step, resumes.resume_step(case)
    if onset is None or at is None:
        return NOT_APPLICABLE
    late = onset - at
    reach = max(steps, case.timeline.interval)
    if late < 0:
        # The point before the resume may stand for a stretch that reaches into it; the first of
        # the log cannot.
        near = late >= -case.timeline.interval and onset > case.timeline.first_step
        text = f"The failure began at {at_step(onset)}, before the resume at {at_step(at)}."
        return Seen(near, text, (onset, at))
    when = f"{stretch(late)} after the resume" if late else "at the resume,"
    return Seen(
        late <= reach,
        f"The failure began {when}{' at' if late else ''} {at_step(at)}.",
        (at, onset),
    )


def jumped_up_at_resume(case: Case) -> Seen:
    """The loss was higher just after the resume than before it."""
    return _jump(case, "up")


def dropped_at_resume(case: Case) -> Seen:
    """The loss was lower just after the resume than before it: data seen before."""
    return _jump(case, "down")


def _jump(case: Case, direction: str) -> Seen:
    at, jump = resumes.resume_step(case), resumes.jump_at_resume(case)
    if jump is None:
        if at is None:
            return NOT_APPLICABLE
        if case.track(Signal.TRAIN_LOSS) is None:
            return Seen(None, "Needs the training loss on either side of a resume.")
        return Seen(False, f"The loss went on without a jump at {at_step(at)}.", (at,))
    before, after = jump.details.get("before"), jump.details.get("after")
    levels = (
        f" from {number(float(before))} to {number(float(after))}"
        if before is not None and after is not None
        else ""
    )
    way = jump.details.get("direction")
    return Seen(
        way == direction,
        f"At the resume ({at_step(jump.onset_step)}) the loss went {way}{levels}.",
        (jump.onset_step,),
    )


def decayed_slowly(case: Case, least: int = 5, most: int = 2000) -> Seen:
    """After the jump the loss came back over many steps, as moments do that fill again."""
    jump = resumes.jump_at_resume(case)
    if jump is None:
        return NOT_APPLICABLE
    took = jump.details.get("recovery_steps")
    if took is None:
        gone = jump.ending in (Ending.PERSISTED, Ending.SETTLED, Ending.DIVERGED)
        return Seen(False if gone else None, "The loss did not come back to its level.")
    return Seen(
        least <= int(took) <= most,
        f"The loss needed {stretch(int(took))} to come back.",
        (jump.onset_step,),
    )


def rate_went_on(case: Case, change: float = 0.2) -> Seen:
    """The learning rate went on where it had stopped."""
    sides, at = resumes.rate_around(case), resumes.resume_step(case)
    if at is None:
        return NOT_APPLICABLE
    if sides is None:
        return Seen(None, "Needs the learning rate on either side of the resume.")
    same = abs(sides.after - sides.before) <= change * max(sides.before, sides.after)
    return Seen(
        same,
        f"The learning rate was {number(sides.before)} before the resume at {at_step(at)} and "
        f"{number(sides.after)} after it.",
        (at,),
    )


def rate_began_again(case: Case, change: float = 0.5) -> Seen:
    """The learning rate jumped at the resume: up, or down to where a warm-up begins."""
    sides, at = resumes.rate_around(case), resumes.resume_step(case)
    if at is None:
        return NOT_APPLICABLE
    if sides is None:
        return Seen(None, "Needs the learning rate on either side of the resume.")
    high, low = max(sides.before, sides.after), min(sides.before, sides.after)
    return Seen(
        high > 0 and low <= (1 - change) * high,
        f"The learning rate went from {number(sides.before)} to {number(sides.after)} at the "
        f"resume ({at_step(at)}).",
        (at,),
    )


def rate_climbed_after(case: Case, factor: float = 2.0) -> Seen:
    """The failure began as the rate was rising again after the resume."""
    onset, at = case.judgement.onset_step, resumes.resume_step(case)
    after = None if at is None else facts.since(case, Signal.LR, at)
    if onset is None or at is None or after is None:
        return Seen(None, "Needs the learning rate between the resume and the onset.")
    until = after.value[after.step <= onset]
    if len(until) < 2 or onset <= at:
        return Seen(None, "Needs the learning rate between the resume and the onset.")
    start, then = float(until[0]), float(until[-1])
    return Seen(
        then >= factor * start and then > 0,
        f"Between the resume at {at_step(at)} and the onset at {at_step(onset)} the learning rate "
        f"went from {number(start)} to {number(then)}.",
        (at, onset),
    )


def failed_on_restarted_rate(case: Case) -> Seen:
    """The rate began again at the resume, and the failure followed at once or as it rose."""
    restarted, soon, climbed = (
        look(case) for look in (rate_began_again, soon_after_resume, rate_climbed_after)
    )
    if not restarted.holds:
        return restarted
    followed = soon if soon.holds else climbed
    return Seen(bool(followed.holds), f"{restarted.text} {followed.text}", restarted.steps)


def rose_at_old_end(case: Case) -> Seen:
    """The failure began where the attempt before had stopped: there the unseen data begin."""
    onset, ends = case.judgement.onset_step, _old_ends(case)
    if onset is None or not ends:
        return NOT_APPLICABLE
    near = [e for e in ends if abs(onset - e) <= max(10, 2 * case.timeline.interval)]
    return Seen(
        bool(near),
        f"The failure began at {at_step(onset)}; the attempt before had got to "
        f"{at_step(ends[-1])}.",
        (onset,),
    )


def gradient_rescaled(case: Case) -> Seen:
    """The gradient norm changed level at the resume, once and for all."""
    sides = resumes.gradient_around(case)
    if resumes.resume_step(case) is None:
        return NOT_APPLICABLE
    if sides is None:
        return Seen(None, "Needs the gradient norm on either side of a resume.")
    ratio = sides.after / sides.before
    return Seen(
        not 0.6 <= ratio <= 1.7,
        f"The median gradient norm was {number(sides.before)} before the resume and "
        f"{number(sides.after)} after it ({times(ratio)}).",
    )


def _old_ends(case: Case) -> list[int]:
    known = [r.rewound_from for r in case.timeline.resumes if r.rewound_from is not None]
    return [int(s) for s in np.unique(known)] if known else []
