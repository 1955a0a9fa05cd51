"""Looks at validation beside training."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import Look, Seen
from forensics.findings import EpisodeKind, Outcome
from forensics.phrasing import at_step, number, percent
from forensics.signals import Signal

NO_VALIDATION = "Needs the validation loss."


def overfitted(case: Case) -> Seen:
    """Validation turned while the training loss went on falling."""
    found = case.episodes_of(EpisodeKind.OVERFIT)
    if not found:
        known = case.track(Signal.EVAL_LOSS) is not None
        return Seen(
            False if known else None, "Validation never turned." if known else NO_VALIDATION
        )
    details = found[0].details
    best, last = details.get("best_value"), details.get("last_value")
    levels = (
        f" from {number(float(best))} to {number(float(last))}"
        if best is not None and last is not None
        else ""
    )
    return Seen(
        True,
        f"The validation loss rose{levels} after {at_step(found[0].onset_step)} while the training "
        "loss went on falling.",
        (found[0].onset_step,),
    )


def training_kept_falling(case: Case, share: float = 0.05) -> Seen:
    """After validation turned, the training loss fell further."""
    found = case.episodes_of(EpisodeKind.OVERFIT)
    if not found or found[0].details.get("train_fall") is None:
        return Seen(None, "Needs training and validation loss after the best validation.")
    fall = float(found[0].details["train_fall"])
    return Seen(
        fall > share,
        f"From {at_step(found[0].onset_step)} on the training loss changed by {percent(-fall)}.",
        (found[0].onset_step,),
    )


def many_epochs(case: Case, most: float = 3.0) -> Seen:
    """The same data was seen several times."""
    logged = facts.points(case.track(Signal.EPOCH))
    epochs = float(logged.value[-1]) if logged is not None else case.config.epochs
    if epochs is None:
        return Seen(None, "Needs the number of epochs.")
    return Seen(epochs >= most, f"The run went through its data {number(epochs)} times.")


def accuracy_still_rises(case: Case) -> Seen:
    """Validation accuracy is best at its end: only the confidence of wrong answers grew."""
    found = facts.points(case.track(Signal.EVAL_ACCURACY))
    if found is None or len(found) < 3:
        return Seen(None, "Needs a validation accuracy beside the validation loss.")
    best, last = float(found.value.max()), float(found.value[-1])
    rises = last >= best - 0.002 * abs(best)
    return Seen(rises, f"Validation accuracy ends at {number(last)}, its best is {number(best)}.")


def validation_form(*forms: str) -> Look:
    """A look that holds where validation failed in one of these forms."""

    def look(case: Case) -> Seen:
        found = case.episodes_of(EpisodeKind.VALIDATION_FAILURE)
        if found and case.judgement.outcome is Outcome.OVERFIT:
            # One that turned is far behind by its end: that says nothing more.
            found = tuple(e for e in found if e.details.get("form") != "gap_from_start")
        if not found:
            known = case.track(Signal.EVAL_LOSS) is not None
            return Seen(
                False if known else None,
                "Validation did not fail by itself." if known else NO_VALIDATION,
            )
        match = [e for e in found if e.details.get("form") in forms]
        shown = (match or list(found))[0]
        return Seen(bool(match), _failure(shown.onset_step, shown.details), (shown.onset_step,))

    return look


_FORMS = {
    "jump": "the validation loss jumped",
    "non_finite": "the validation loss became non-finite",
    "gap_from_start": "the validation loss stood apart from the first validation on",
    "flat": "the validation loss did not move",
}


def _failure(step: int, details: Mapping[str, Any]) -> str:
    train, held_out = details.get("train_level"), details.get("eval_level")
    levels = (
        f" (training {number(float(train))}, validation {number(float(held_out))})"
        if train is not None and held_out is not None
        else ""
    )
    what = _FORMS.get(str(details.get("form")), "validation failed")
    return f"At {at_step(step)} {what} while the training loss was as usual{levels}."


def validation_far_better(case: Case, share: float = 0.6) -> Seen:
    """Validation loss far below the training loss from the start: it may have been trained on."""
    levels = _levels(case)
    if levels is None:
        return Seen(None, "Needs training and validation loss of the same steps.")
    train, held_out = levels
    return Seen(
        0 <= held_out < share * train,
        f"In its later half the training loss is {number(train)} and the validation loss "
        f"{number(held_out)}.",
    )


def validation_worse_than_guess(case: Case, fell: float = 0.3) -> Seen:
    """From the first validation on it costs more than an untrained model; training goes well."""
    held_out = facts.points(case.track(Signal.EVAL_LOSS))
    train = facts.points(case.track(Signal.TRAIN_LOSS))
    first = facts.initial_loss(case)
    if held_out is None or train is None or first is None or len(held_out) < 3:
        return Seen(None, "Needs three validations and the first training loss.")
    chance = facts.chance_loss(case)
    untrained = max(first, chance[0]) if chance is not None else first
    learned = float(np.median(train.value[-len(train) // 3 :])) < (1 - fell) * untrained
    low = float(np.min(held_out.value))
    return Seen(
        learned and low > 1.1 * untrained,
        f"The best of {len(held_out):,} validations is {number(low)}; an untrained model costs "
        f"{number(untrained)}.",
    )


def validation_better(case: Case, share: float = 0.97) -> Seen:
    """Validation loss is below the training loss: the validation labels are cleaner."""
    seen = validation_far_better(case, share)
    return Seen(seen.holds, seen.text)


def validation_accuracy_better(case: Case, more: float = 0.15) -> Seen:
    """More of the validation is right than of the training data: its labels are cleaner."""
    signals = (Signal.TRAIN_ACCURACY, Signal.EVAL_ACCURACY)
    train, held_out = (facts.points(case.track(s)) for s in signals)
    if train is None or held_out is None or len(held_out) < 3 or len(train) < 6:
        return Seen(None, "Needs the accuracy on training and on validation data.")
    shares = [float(np.median(t.value[-len(t) // 3 :])) for t in (train, held_out)]
    unit = 100.0 if max(shares) > 1.5 else 1.0
    return Seen(
        shares[1] >= shares[0] + more * unit,
        f"In the last third {percent(shares[0] / unit)} of the training samples are right and "
        f"{percent(shares[1] / unit)} of the validation samples.",
    )


def validation_climbs_steadily(case: Case, share: float = 0.75) -> Seen:
    """Validation worsens without jumps as training gets surer: the same answers are wrong."""
    found = facts.points(case.track(Signal.EVAL_LOSS))
    if found is None or len(found) < 6:
        return Seen(None, "Needs six validation losses.")
    ways = np.diff(found.value)
    risen = float(found.value[-1] - found.value[0])
    jitter = float(np.abs(ways[ways < 0]).sum())
    return Seen(
        float(np.mean(ways > 0)) >= share and risen > 0 and jitter < 0.25 * risen,
        f"The validation loss went from {number(float(found.value[0]))} to "
        f"{number(float(found.value[-1]))}, up in {percent(float(np.mean(ways > 0)))} of its "
        "steps.",
    )


def validation_falls_smoothly(case: Case, share: float = 0.8) -> Seen:
    """Nearly every validation is better than the one before."""
    found = facts.points(case.track(Signal.EVAL_LOSS))
    if found is None or len(found) < 4:
        return Seen(None, "Needs at least four validation losses.")
    falls = float(np.mean(np.diff(found.value) < 0))
    better = found.value[-1] < 0.97 * found.value[0]
    return Seen(
        bool(falls >= share and better),
        f"The validation loss fell in {percent(falls)} of its steps, from "
        f"{number(float(found.value[0]))} to {number(float(found.value[-1]))}.",
    )


def _levels(case: Case) -> tuple[float, float] | None:
    """Training and validation loss over the later half of the validations, of the same steps."""
    held_out = facts.points(case.track(Signal.EVAL_LOSS))
    train = facts.points(case.track(Signal.TRAIN_LOSS)) or facts.points(
        case.track(Signal.TRAIN_LOSS_EPOCH)
    )
    if held_out is None or train is None or len(held_out) < 3 or len(train) < 4:
        return None
    later = held_out.step >= max(float(np.median(held_out.step)), float(train.step[0]))
    if not later.any():
        return None
    beside = facts.beside(train, held_out.step[later])
    return float(np.median(beside)), float(np.median(held_out.value[later]))


def smoothed_labels(case: Case) -> Seen:
    """The training loss holds a surcharge that validation lacks: smoothing, or mixed samples."""
    names = ("label_smoothing", "label_smoothing_factor", "mixup", "mixup_alpha", "cutmix")
    on = facts.flag(case, *names)
    if on is None:
        return Seen(
            None, "Needs the settings of label smoothing and mixing.", source="configuration"
        )
    state = "on" if on else "off"
    return Seen(on, f"Label smoothing or mixing of samples is {state}.", source="configuration")
