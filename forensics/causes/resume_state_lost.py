"""Resume state lost: the new attempt began without the optimizer's state.

What it claims:
    At a resume the weights were loaded, but Adam's moments, its step counter, the loss scale or
    the state of the random numbers were not. The first updates are several times too large: 1.0,
    0.7, 0.45 (step 5), 0.33 (step 10) of the rate instead of about 0.23.

How it shows:
    The loss jumps up within ten steps of the resume and comes back over tens to hundreds of
    steps, while the learning rate goes on where it was.

For:
    A jump up right at the resume; a slow way back; a continuous learning rate; a line of the
    output that says so.
    - In a checkpoint, an optimizer's step counter that began again at the resume.

Against:
    No resume; a loss that goes on without a jump; a failure long after the resume; a learning rate
    that began again (see ``schedule_restart``); a loss that dropped (see ``data_order``).
    - A step counter that went on, or a weight far larger than the learning rate can make it.

What to do:
    Load the state of the optimizer, the scaler and the generators after the optimizer exists, and
    check its step counter. Where the state is gone, warm the rate up again over 100 to 1,000 steps.

References:
    microsoft/DeepSpeed issue 1525 and pull request 4396 (step counter not saved). BigScience 104B
    chronicles: an optimizer reset is harmless at 1.3B and not at 104B.
"""

from forensics.case import Case
from forensics.causes import _looks_resume as resume
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_counters import optimizer_counter_restarted
from forensics.causes._looks_damage import value_stands_out
from forensics.causes._looks_moments import bound_broken, second_moment_cut, second_moment_reset
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_replay_state import lost_state_brings_it
from forensics.causes._looks_spike import gradient_built_up
from forensics.causes._looks_text import says
from forensics.causes._resumes import resume_step
from forensics.findings import Outcome
from forensics.phrasing import at_step
from forensics.run import TextKind


def _place(case: Case) -> str:
    at = resume_step(case)
    return "the resume" if at is None else f"the resume at {at_step(at)}"


def _verify(case: Case) -> str:
    return (
        f"In the checkpoint used for {_place(case)}, print the optimizer's step and the norm of "
        "its first moment, then print both again right after loading: they must agree. Repeat the "
        "first ten steps with the state loaded: the jump is gone."
    )


def _fix(case: Case) -> list[str]:
    return [
        f"Go back to the checkpoint of {_place(case)} and load the optimizer's state too.",
        "Create optimizer, scheduler and scaler before loading, and fail loudly on missing keys.",
        "Where the state no longer exists, warm the learning rate up again over 100 to 1,000 "
        "steps.",
    ]


CAUSE = Cause(
    name="resume_state_lost",
    title="Optimizer state lost at a resume",
    family=Family.CHAIN,
    prior=0.5,
    claim="The resume loaded the weights without the optimizer's state, and the first updates were "
    "several times too large.",
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
        Clue("resumed", resume.resumed, 0.0, -DECISIVE),
        Clue("jumped", resume.jumped_up_at_resume, STRONG, -STRONG, group="jump"),
        Clue("dropped", resume.dropped_at_resume, -DECISIVE, group="jump"),
        Clue("soon_after", resume.soon_after_resume, STRONG, -STRONG, group="timing"),
        Clue("decayed_slowly", resume.decayed_slowly, MODERATE, -WEAK),
        Clue("rate_went_on", resume.rate_went_on, MODERATE, -STRONG),
        Clue("said_so", says(TextKind.OPTIMIZER_NOT_RESTORED), DECISIVE),
        Clue("gradient_built_up", gradient_built_up, -MODERATE),
        Clue("moments_impossible", bound_broken, -STRONG),
        # Adam with empty moments moves a weight by at most the learning rate.
        Clue("value_stands_out", value_stands_out, -STRONG),
        Clue("counter_restarted", optimizer_counter_restarted, DECISIVE, -STRONG, group="state"),
        Clue("second_moment_cut", second_moment_cut, -DECISIVE, group="state"),
        Clue("second_moment_reset", second_moment_reset, STRONG, group="state"),
        proof("replay", lost_state_brings_it),
    ),
    verify=_verify,
    fix=_fix,
    needs=("a replay of the first ten steps with the state loaded",),
)
