"""Validation mismatch: validation measures something else than training teaches.

What it claims:
    The validation data differ from the training data (other preprocessing, other labels, another
    tokenizer, another domain), leak from it, or are evaluated by other code.

How it shows:
    A gap from the first validation on that never closes, a jump while training is as usual, a
    validation that does not move, or one far better than training.

For:
    A gap from the start; a jump of validation alone; validation far below the training loss.
    - Validation above the loss of an untrained model from the first one on, climbing steadily.

Against:
    A validation loss that fell first and turned later, which is overfitting; batch normalisation,
    whose running statistics break validation alone.

What to do:
    Run the evaluation code on training samples: it must give the training loss. Count the samples
    that both sets share.

References:
    DeepChecker's check of training against evaluation mode. Karpathy, A Recipe for Training Neural
    Networks.
"""

from forensics.case import Case
from forensics.causes import _looks_validation as validation
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_damage import statistics_lag
from forensics.causes._looks_learning import loss_vanished
from forensics.causes._looks_model import batchnorm_used
from forensics.causes._looks_outcome import explains
from forensics.causes._where import onset_words
from forensics.findings import Outcome


def _verify(case: Case) -> str:
    return (
        f"With {_trained(case)}, run the evaluation code on 500 training samples, in evaluation "
        "mode: their loss must be about the logged training loss. If it is "
        "not, the code differs; if it is, the data do. Count samples that stand in both sets."
    )


def _trained(case: Case) -> str:
    """Weights for which the fault shows: of a gap from the start, any that were trained."""
    onset = case.judgement.onset_step
    if onset is None or onset <= case.timeline.first_step + case.timeline.interval:
        return "the weights of the last checkpoint"
    return f"the checkpoint nearest {onset_words(case)}"


def _fix(_: Case) -> list[str]:
    return [
        "Keep the trained weights: once the validation is repaired, evaluate them again.",
        "Use one function for the preprocessing of both sets, and print a sample of each.",
        "Draw the validation set at random from the same source, without shared samples.",
        "Check label mapping, tokenizer, padding and ignored labels of the validation loader.",
    ]


CAUSE = Cause(
    name="validation_mismatch",
    title="Validation does not match training",
    family=Family.OBJECTIVE,
    prior=0.4,
    claim="The data or the code of validation differ from those of training.",
    clues=(
        *explains((Outcome.VALIDATION_FAILED, Outcome.OVERFIT)),
        Clue("apart", validation.validation_form("gap_from_start", "flat"), STRONG, group="form"),
        Clue("jumped", validation.validation_form("jump"), MODERATE, group="form"),
        Clue("far_better", validation.validation_far_better, STRONG, group="form"),
        Clue("worse_than_guess", validation.validation_worse_than_guess, STRONG, group="form"),
        Clue("statistics_lag", statistics_lag, -DECISIVE),
        Clue("turned", validation.overfitted, -STRONG, group="form"),
        Clue("loss_vanished", loss_vanished, -STRONG),
        Clue("batchnorm", batchnorm_used, -WEAK, WEAK),
        Clue("climbs_steadily", validation.validation_climbs_steadily, MODERATE),
    ),
    verify=_verify,
    fix=_fix,
    needs=("a sample of the validation and of the training set", "the evaluation code on training"),
)
