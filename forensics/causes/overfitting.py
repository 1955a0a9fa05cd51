"""Overfitting: the model learned its training samples by heart.

What it claims:
    From some step on, further training improves the training loss and worsens validation.

How it shows:
    The validation loss has a minimum and rises after it, the training loss goes on falling.

For:
    A validation loss that turned; a training loss that fell further; several passes over the data.

Against:
    A gap between training and validation from the start; validation accuracy still rising (then
    only the confidence of the wrong answers grows); running statistics of batch normalisation that
    lag behind.

What to do:
    Keep the checkpoint of the best validation. Fewer epochs, more data, more regularisation.

References:
    Prechelt, Early Stopping, but when? (1998). Guo and others, On Calibration of Modern Neural
    Networks, arXiv 1706.04599 (loss rises while accuracy does too).
"""

from forensics.case import Case
from forensics.causes import _looks_validation as validation
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_damage import statistics_lag
from forensics.causes._looks_outcome import explains
from forensics.findings import Change, EpisodeKind, Outcome
from forensics.phrasing import at_step


def _best_step(case: Case) -> int | None:
    found = case.episodes_of(EpisodeKind.OVERFIT)
    best = found[0].details.get("best_step") if found else None
    return None if best is None else int(best)


def _verify(case: Case) -> str:
    best = _best_step(case)
    at = "the best validation" if best is None else at_step(best)
    return (
        f"Evaluate the checkpoint nearest {at} and the last one on a fresh held-out set: the "
        "earlier one must be better. On the training set the last one is."
    )


def _fix(case: Case) -> list[str]:
    best = _best_step(case)
    keep = "of the best validation" if best is None else f"nearest {at_step(best)}"
    return [
        f"Use the checkpoint {keep}; the training after it can be thrown away.",
        "Stop early: save at every validation and keep the best (load_best_model_at_end, patience "
        "3).",
        "Train for fewer epochs, on more data, with dropout, weight decay or augmentation; with "
        "LoRA, a lower rank.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    best = _best_step(case)
    kept = "the best validation" if best is None else at_step(best)
    return (Change("early_stopping", None, f"patience 3, keep the best ({kept} in this run)"),)


CAUSE = Cause(
    name="overfitting",
    title="Overfitting",
    family=Family.OBJECTIVE,
    prior=0.8,
    claim="The model learned its training samples by heart: validation worsened while training "
    "improved.",
    clues=(
        *explains((Outcome.OVERFIT,), (Outcome.VALIDATION_FAILED,)),
        Clue("turned", validation.overfitted, DECISIVE, -STRONG),
        Clue("training_fell", validation.training_kept_falling, MODERATE, -STRONG),
        Clue("many_epochs", validation.many_epochs, WEAK, -WEAK),
        Clue("apart", validation.validation_form("gap_from_start", "flat"), -STRONG, group="apart"),
        Clue("worse_than_guess", validation.validation_worse_than_guess, -STRONG, group="apart"),
        Clue("accuracy_rises", validation.accuracy_still_rises, -WEAK, WEAK),
        Clue("statistics_lag", statistics_lag, -DECISIVE),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=("a held-out set that no decision was based on",),
)
