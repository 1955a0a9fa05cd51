"""Input scale: the inputs or targets are not normalised, so first loss and gradients are huge.

What it claims:
    Inputs or targets have values of hundreds or thousands (pixels of 0 to 255, unscaled targets,
    a unit that differs from the pretraining's). The first layer's gradients are as large.

How it shows:
    A first loss far above that of a guess, a huge first gradient norm, an explosion or a plateau
    within the first steps at a learning rate that is otherwise ordinary.

For:
    Captured batches far from unit scale; a first loss or gradient norm that is huge; trouble from
    the first steps on; an ordinary learning rate.

Against:
    A first loss of about ln(classes); trouble only after long calm; a rate far above the usual;
    inputs that are tokens, which have no scale.
    Bad initialisation looks the same from outside: it shows on normalised inputs too.

What to do:
    Print mean and standard deviation of one batch, inputs and targets; bring them near 0 and 1, or
    to what the pretrained model was trained with.

References:
    CS231n, notes on data preprocessing and on the first loss. UMLAUT's check of the input range.
"""

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes import _looks_batches as batches
from forensics.causes._base import MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_data import first_gradient_huge, first_loss_huge
from forensics.causes._looks_first_loss import initial_far_above_chance
from forensics.causes._looks_initial import weights_oversized
from forensics.causes._looks_learning_rate import lr_far_above_range
from forensics.causes._looks_model import reads_tokens
from forensics.causes._looks_outcome import broke_early, explains, from_the_start
from forensics.causes._looks_precision import norm_like_scale
from forensics.findings import Outcome
from forensics.phrasing import number


def _verify(case: Case) -> str:
    first, chance = facts.initial_loss(case), facts.chance_loss(case)
    seen = "" if first is None else f" (it was {number(first)})"
    expected = "" if chance is None else f" about {number(chance[0])}, {chance[1]}"
    return (
        "Print mean, standard deviation, smallest and largest value of inputs and targets of the "
        f"first batch, standardise them, and compute the first loss again{seen}: expected is"
        f"{expected or ' the loss of a guess'}."
    )


def _fix(_: Case) -> list[str]:
    return [
        "Standardise the inputs (mean 0, standard deviation 1) with numbers from the training set, "
        "or use the preprocessing of the pretrained model.",
        "For regression, standardise the targets too and scale predictions back.",
        "Check the range of each batch in the loader.",
    ]


CAUSE = Cause(
    name="input_scale",
    title="Inputs or targets not normalised",
    family=Family.DATA,
    prior=0.3,
    claim="The inputs or targets are far from unit scale, so the first losses and gradients are "
    "huge.",
    clues=(
        *explains(
            (Outcome.DIVERGED, Outcome.NON_FINITE, Outcome.STALLED),
            (Outcome.SPIKED_UNRECOVERED, Outcome.SPIKED_RECOVERED, Outcome.VALIDATION_FAILED),
        ),
        Clue("first_above_chance", initial_far_above_chance, STRONG, -STRONG, group="first_loss"),
        Clue("first_loss_huge", first_loss_huge, STRONG, -WEAK, group="first_loss"),
        Clue("first_gradient_huge", first_gradient_huge, STRONG, -MODERATE),
        Clue("early", broke_early, WEAK, -STRONG, group="timing"),
        Clue("half_precision_scaled", norm_like_scale, -STRONG),
        Clue("from_the_start", from_the_start, WEAK, group="timing"),
        Clue("rate_far_too_high", lr_far_above_range, -MODERATE, WEAK),
        Clue("reads_tokens", reads_tokens, -STRONG),
        Clue("weights_oversized", weights_oversized, -STRONG),
        Clue(
            "far_from_unit",
            batches.in_all_batches(Oddity.INPUT_SCALE),
            STRONG,
            -STRONG,
            group="batches",
        ),
        Clue("one_batch", batches.shows(Oddity.INPUT_SCALE), MODERATE, group="batches"),
    ),
    verify=_verify,
    fix=_fix,
    needs=("the first batch, for the range of inputs and targets",),
)
