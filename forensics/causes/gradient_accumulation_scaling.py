"""Gradient-accumulation scaling: the loss is multiplied or divided by the number of micro-batches.

What it claims:
    The division by the number of accumulated micro-batches is missing, done twice, or ignores that
    micro-batches hold different numbers of labels. The logged loss, the gradients, or both are off
    by that factor.

How it shows:
    From the first step on, the training loss is the accumulation times (or one part of) what a
    guess costs, and stands in that ratio to the validation loss all along. Clipping then acts on
    every step; Adam hides the rest.

For:
    A first loss of accumulation x ln(classes); a constant ratio of training to validation loss.

Against:
    No accumulation; a first loss of ln(classes); training and validation of one level.

What to do:
    Sum the losses of all labels of the step and divide once by their number, over all micro-batches
    and processes.

References:
    huggingface/transformers issues 34191 and 37197, pull request 35207, and the blog post on
    gradient accumulation.
"""

from forensics.case import Case
from forensics.causes import _looks_scaling as scaling
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_clipping import clipping_constant
from forensics.causes._looks_levels import first_above_any_guess
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_replay_scale import scaled_by_accumulation
from forensics.causes._looks_told import release_miscounts
from forensics.findings import Outcome


def _verify(case: Case) -> str:
    steps = case.config.grad_accum or 4
    return (
        f"Take one batch of {steps:,} x N samples: once as one micro-batch, once as {steps:,}. "
        f"Loss and gradient norm must be equal; a ratio of {steps:,} is the missing division."
    )


def _fix(case: Case) -> list[str]:
    steps = case.config.grad_accum
    by = "the number of micro-batches" if steps is None else f"{steps:,}"
    return [
        f"Divide each micro-batch's loss by {by}, once, or by the number of labels of the whole "
        "step.",
        "Upgrade transformers past 4.47 if its Trainer did the accumulation.",
        "Lower the clip threshold or the rate again if they were raised to make up for it.",
    ]


CAUSE = Cause(
    name="gradient_accumulation_scaling",
    title="Loss scaled by gradient accumulation",
    family=Family.CHAIN,
    prior=0.1,
    claim="Loss or gradients are off by the number of accumulated micro-batches.",
    clues=(
        *explains(
            (Outcome.HEALTHY, Outcome.STALLED, Outcome.DIVERGED, Outcome.VALIDATION_FAILED),
            (
                Outcome.OVERFIT,
                Outcome.NON_FINITE,
                Outcome.SPIKED_RECOVERED,
                Outcome.SPIKED_UNRECOVERED,
            ),
        ),
        Clue("accumulates", scaling.accumulates, WEAK, -DECISIVE),
        Clue("first_is_multiple", scaling.first_loss_is_multiple, DECISIVE, -STRONG),
        Clue("above_any_guess", first_above_any_guess, STRONG),
        Clue("release_miscounts", release_miscounts, STRONG),
        Clue("ratio", scaling.training_is_multiple_of_validation, DECISIVE, -MODERATE),
        Clue("always_clipped", clipping_constant, WEAK),
        proof("replay", scaled_by_accumulation),
    ),
    verify=_verify,
    fix=_fix,
    needs=("one batch replayed whole and in micro-batches",),
)
