"""Class imbalance: the model learned how frequent the classes are, and nothing else.

What it claims:
    One class makes up most of the labels. Always naming it costs little, so the gradient of the
    others is drowned.

How it shows:
    The loss falls within the first steps to the entropy of the labels, far below a uniform guess,
    and stays there. Accuracy is high from its first point and does not move.

For:
    Labels of captured batches that are mostly one class. A quick fall, then a level at the label
    entropy; accuracy that is high and flat.
    - Loss and accuracy are those of a model that knows the share of the largest class, and no more.
    - A validation accuracy that never moves by a single sample while the validation loss falls.

Against:
    A level of ln(classes), which is that of balanced labels; accuracy at chance or still rising.

What to do:
    Count the labels and look at the accuracy of each class. Start the last layer's bias at the log
    frequencies, weight or resample the classes, and judge by a mean over the classes.

References:
    Karpathy, A Recipe for Training Neural Networks (initial bias). Focal loss, arXiv 1708.02002.
"""

from forensics.case import Case
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_batches import classes_unbalanced
from forensics.causes._looks_gradients import gradient_negligible
from forensics.causes._looks_learning import (
    accuracy_at_chance,
    accuracy_high_and_flat,
    costs_like_frequencies,
    one_answer,
    rests_below_chance,
)
from forensics.causes._looks_learning_rate import lr_zero
from forensics.causes._looks_loss_shape import plateau_level, validation_frozen
from forensics.causes._looks_model import reads_tokens
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_rest import overshot_at_first
from forensics.findings import Outcome


def _verify(case: Case) -> str:
    classes = case.config.num_classes
    among = "" if classes is None else f" of the {classes:,} classes"
    return (
        f"Count the labels{among}, compute their entropy -sum(p ln p) and compare it with the "
        "level of the loss. Print a confusion matrix on the validation set: all in one column?"
    )


def _fix(_: Case) -> list[str]:
    return [
        "Set the bias of the last layer to the logarithm of the class frequencies at the start.",
        "Weight the loss by the inverse frequency, resample, or use the focal loss (gamma 2).",
        "Judge by balanced accuracy or the mean F1, not by plain accuracy.",
    ]


CAUSE = Cause(
    name="class_imbalance",
    title="Class imbalance",
    family=Family.DATA,
    prior=0.3,
    claim="The loss rests at the entropy of unbalanced labels: the model names the most frequent "
    "class.",
    clues=(
        *explains((Outcome.STALLED,), (Outcome.VALIDATION_FAILED,)),
        Clue("at_label_entropy", plateau_level("label_entropy"), MODERATE, group="level"),
        Clue("one_answer", one_answer, DECISIVE, group="level"),
        Clue("below_chance", rests_below_chance, STRONG, -STRONG, group="level"),
        Clue(
            "at_uniform_guess",
            plateau_level("ln_classes", "ln_vocab", "initial"),
            -STRONG,
            group="level",
        ),
        Clue("accuracy_flat", accuracy_high_and_flat, STRONG, group="accuracy"),
        Clue(
            "costs_like_frequencies",
            costs_like_frequencies,
            STRONG + MODERATE,
            -STRONG,
            group="accuracy",
        ),
        Clue("accuracy_at_chance", accuracy_at_chance, -STRONG, group="accuracy"),
        Clue("validation_frozen", validation_frozen, WEAK),
        Clue("gradient_negligible", gradient_negligible, -MODERATE),
        Clue("rate_zero", lr_zero, -STRONG),
        Clue("labels_unbalanced", classes_unbalanced, STRONG, -STRONG),
        Clue("reads_tokens", reads_tokens, -STRONG),
        Clue("overshot_at_first", overshot_at_first, -STRONG),
    ),
    verify=_verify,
    fix=_fix,
    needs=("the number of samples of each class", "the accuracy of each class"),
)
