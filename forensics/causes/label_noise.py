"""Label noise: a share of the labels is wrong, so the loss cannot fall below it.

What it claims:
    A part of the training labels is wrong or contradictory. The loss settles at the entropy of the
    noise; later the model may learn the wrong labels by heart.

How it shows:
    Real progress, then a level well above zero; training accuracy capped; a gradient norm that
    stays up; a cleaner validation set scores better than the training set.

For:
    A plateau after progress; accuracy capped well below 100 %; validation better than training.
    - More of the validation than of the training data is right.

Against:
    No progress at all; training accuracy near 100 % without a rise of the validation loss;
    regularisation that explains the gap (label smoothing, dropout, mixing of samples).

What to do:
    Read the hundred samples with the greatest loss at the end of training. Correct or drop them.

References:
    Northcutt and others, Confident Learning, arXiv 1911.00068. Zhang and others, Understanding
    Deep Learning Requires Rethinking Generalization, arXiv 1611.03530.
"""

from forensics.case import Case
from forensics.causes._base import MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_gradients import gradient_alive
from forensics.causes._looks_learning import accuracy_capped, accuracy_high_and_flat
from forensics.causes._looks_loss_shape import fell_first, plateau_level
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_rest import overshot_at_first
from forensics.causes._looks_validation import (
    smoothed_labels,
    validation_accuracy_better,
    validation_better,
)
from forensics.findings import Outcome


def _verify(_: Case) -> str:
    return (
        "With the last checkpoint, compute the loss of every training sample and read the hundred "
        "largest: with noise, most of them carry a wrong label. Train on a relabelled subset: its "
        "loss falls below the present level."
    )


def _fix(_: Case) -> list[str]:
    return [
        "Correct or drop the samples with the greatest loss, and repeat once.",
        "Stop before the wrong labels are learned by heart: keep the checkpoint of best "
        "validation.",
        "Use label smoothing of about 0.1 or a loss that caps the cost of one sample.",
    ]


CAUSE = Cause(
    name="label_noise",
    title="Noisy labels",
    family=Family.DATA,
    prior=0.2,
    claim="A share of the labels is wrong, which keeps the loss on a level above zero.",
    clues=(
        *explains((Outcome.STALLED,), (Outcome.OVERFIT, Outcome.VALIDATION_FAILED)),
        Clue("fell_first", fell_first, WEAK, -STRONG, group="progress"),
        Clue(
            "rests_on_guessing",
            plateau_level("ln_classes", "ln_vocab", "token_entropy", "initial", "post_jump"),
            -STRONG,
            group="progress",
        ),
        Clue("accuracy_capped", accuracy_capped, MODERATE, -MODERATE, group="accuracy"),
        Clue("accuracy_flat", accuracy_high_and_flat, -STRONG, group="accuracy"),
        Clue("validation_better", validation_better, STRONG, -WEAK, group="validation"),
        Clue(
            "validation_accuracy",
            validation_accuracy_better,
            STRONG + MODERATE,
            -WEAK,
            group="validation",
        ),
        Clue("smoothed", smoothed_labels, -MODERATE),
        Clue("gradient_alive", gradient_alive, WEAK, -STRONG),
        Clue("overshot_at_first", overshot_at_first, -STRONG),
    ),
    verify=_verify,
    fix=_fix,
    needs=("the loss of each training sample at the last checkpoint",),
)
