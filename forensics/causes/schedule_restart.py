"""Schedule restart: the learning-rate schedule began again at a resume.

What it claims:
    The state of the scheduler was not restored, so the warm-up or the whole schedule was replayed
    on a trained model, or the rate jumped to another value.

How it shows:
    The logged rate is discontinuous at the resume. If it began again at a warm-up, the loss is calm
    at first and blows up when the rate gets large. If it fell to zero, training stands still.

For:
    A rate that jumped at the resume; a failure that began as the rate rose again; a line of the
    output that says so.
    - In a checkpoint, a scheduler's counter that began again at the resume.
    - A rate that breaks off in the middle of its decay and rises to its peak again.

Against:
    No resume; a rate that went on where it was.

What to do:
    Restore the scheduler with the optimizer, and compare the first logged rate with the schedule.

References:
    IDEFICS-80B chronicles (huggingface/m4-logs), experiments 9 and 10: the warm-up was replayed
    twice. torch-points3d issue 630; speculators issue 900 (the epoch index was used as the step).
"""

from forensics.case import Case
from forensics.causes import _looks_resume as resume
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_counters import scheduler_restarted
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_schedule import schedule_anew
from forensics.causes._looks_text import says
from forensics.causes._resumes import rate_around, resume_step
from forensics.findings import Change, Outcome
from forensics.phrasing import at_step, number
from forensics.run import TextKind


def _verify(case: Case) -> str:
    sides, at = rate_around(case), resume_step(case)
    where = "the resume" if at is None else at_step(at)
    seen = (
        ""
        if sides is None
        else f" The log shows {number(sides.before)} before and {number(sides.after)} after."
    )
    return (
        f"Compute the schedule's rate for {where} and compare it with the first rate logged after "
        f"it; print scheduler.last_epoch right after loading.{seen}"
    )


def _fix(_: Case) -> list[str]:
    return [
        "Go back to the checkpoint of the resume and restore the scheduler's state with it.",
        "Check that scheduler.last_epoch equals the global step, in optimizer steps, not epochs.",
        "Let the training stop when the first rate after a resume differs from the one before.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    sides = rate_around(case)
    if sides is None or sides.before == sides.after:
        return ()
    return (Change("learning_rate_after_resume", sides.after, sides.before),)


CAUSE = Cause(
    name="schedule_restart",
    title="Learning-rate schedule restarted",
    family=Family.CHAIN,
    prior=0.35,
    claim="The learning-rate schedule began again at the resume instead of going on.",
    clues=(
        *explains(
            (
                Outcome.SPIKED_RECOVERED,
                Outcome.SPIKED_UNRECOVERED,
                Outcome.DIVERGED,
                Outcome.NON_FINITE,
            ),
            (Outcome.STALLED, Outcome.UNKNOWN),
        ),
        Clue("resumed", resume.resumed, 0.0, -MODERATE, group="rate"),
        Clue("broke_off", schedule_anew, DECISIVE, -STRONG, group="rate"),
        Clue("rate_began_again", resume.rate_began_again, DECISIVE, group="rate"),
        Clue("rate_went_on", resume.rate_went_on, -DECISIVE, group="rate"),
        Clue("climbed", resume.rate_climbed_after, STRONG, group="timing"),
        Clue("soon_after", resume.soon_after_resume, STRONG, -WEAK, group="timing"),
        Clue("said_so", says(TextKind.SCHEDULER_NOT_RESTORED), DECISIVE),
        Clue("scheduler_restarted", scheduler_restarted, STRONG, -WEAK, group="rate"),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
)
