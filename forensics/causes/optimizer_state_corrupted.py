"""Optimizer state corrupted: the moments no longer belong to these weights.

What it claims:
    Momentum or second moment hold wrong numbers: saved from another step, permuted by a change of
    sharding, damaged on disk, cut short by a narrow number format, or merged from two attempts.
    (A state that was lost altogether is another cause, `resume_state_lost`.)

How it shows:
    After a resume that restored weights and learning rate the loss jumps within the first steps,
    at once and not as a slow decay, or numbers become non-finite. The weights themselves evaluate
    as before.

For:
    - A jump of the loss, upward, in the first steps after a resume whose rate went on.
    - Non-finite numbers right after the resume.
    - Moments in a checkpoint that break Adam's bounds.
    - A second moment that fell as if begun anew while the step counter went on.

Against:
    - No resume: a state in memory is not damaged without a hardware fault.
    - The rate began again, or the log says that the optimizer was not restored: then those
      explain the jump.

What to do:
    Test the state before using it: |m| / sqrt(v) can never exceed
    (1 - b1) / sqrt(1 - b2) / sqrt(1 - b1^2 / b2), 7.3 for Adam's usual betas; between two
    checkpoints v may not fall faster than b2 a step; all step counters agree. If a bound is
    broken, take an older checkpoint, or start the moments anew with a warm-up of 100 to 1,000
    steps; the literature disagrees on how safe that is for very large models.

References:
    - The bounds follow from Adam's definition, arXiv 1412.6980.
    - OPT-175B chronicles: a reloaded optimizer checkpoint silently restored old betas.
    - DeepSpeed issue 1525: the step counter was not saved, so bias correction began again.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_counters import settings_differ
from forensics.causes._looks_damage import value_stands_out
from forensics.causes._looks_moments import bound_broken, second_moment_cut, second_moment_swapped
from forensics.causes._looks_non_finite import instant
from forensics.causes._looks_outcome import BROKE, before_any_update, explains
from forensics.causes._looks_resume import (
    decayed_slowly,
    jumped_up_at_resume,
    rate_began_again,
    rate_went_on,
    resumed,
    soon_after_resume,
)
from forensics.causes._looks_text import says
from forensics.findings import Outcome
from forensics.run import TextKind


def _verify(case: Case) -> str:
    return (
        f"In the optimizer state of {changes.restart_from(case)} compute max(|exp_avg| / "
        "sqrt(exp_avg_sq)) of each tensor: a value above 7.3 (betas 0.9 and 0.999; 1.2 for beta2 "
        "0.95) cannot come from Adam and proves the damage."
    )


def _fix(case: Case) -> list[str]:
    return [
        "Resume from an older checkpoint whose optimizer state passes the test, with the same "
        "number of processes and the same parameter order.",
        "If none passes, keep the weights, start the moments anew and warm the learning rate up "
        f"over {changes.longer_warmup(case).after:,} steps.",
        "After loading, print betas, epsilon, weight decay and step of each parameter group: the "
        "checkpoint's values override the configuration's.",
    ]


CAUSE = Cause(
    name="optimizer_state_corrupted",
    title="Optimizer state corrupted",
    family=Family.OPTIMISATION,
    prior=0.1,
    claim="The optimizer continued with moments that do not belong to the weights it updates.",
    clues=(
        *explains((*BROKE, Outcome.SPIKED_RECOVERED), rarely=(Outcome.HEALTHY,)),
        Clue("resumed", resumed, 0.0, -MODERATE, group="moments"),
        Clue("soon_after_resume", soon_after_resume, MODERATE, -STRONG, group="resume"),
        Clue("jump_at_resume", jumped_up_at_resume, STRONG, -WEAK, group="jump"),
        Clue("rate_went_on", rate_went_on, WEAK, group="rate"),
        Clue("rate_began_again", rate_began_again, -STRONG, group="rate"),
        Clue("came_back_slowly", decayed_slowly, -MODERATE),
        Clue("said_not_restored", says(TextKind.OPTIMIZER_NOT_RESTORED), -STRONG),
        Clue("no_warning", instant, WEAK),
        Clue("before_any_update", before_any_update, -STRONG),
        Clue("bound_broken", bound_broken, DECISIVE + STRONG, -WEAK, group="moments"),
        Clue("second_moment_swapped", second_moment_swapped, DECISIVE, group="moments"),
        Clue("second_moment_cut", second_moment_cut, DECISIVE + STRONG, group="moments"),
        Clue("settings_differ", settings_differ, MODERATE),
        Clue("value_stands_out", value_stands_out, MODERATE),
    ),
    verify=_verify,
    fix=_fix,
    needs=("The loss of the restored weights on a fixed batch, before the first update.",),
)
