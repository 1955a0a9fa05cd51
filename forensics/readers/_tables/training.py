"""Tells the log of a training from any other table, by the names of its columns."""

from collections.abc import Iterable

from forensics.signals import Signal, classify, normalise

_STRONG = frozenset(
    {
        Signal.TRAIN_LOSS,
        Signal.TRAIN_LOSS_EPOCH,
        Signal.EVAL_LOSS,
        Signal.LOSS_COMPONENT,
        Signal.GRAD_NORM,
        Signal.GRAD_NORM_CLIPPED,
        Signal.LR,
        Signal.LOSS_SCALE,
    }
)
"""Quantities that hardly anything but a training logs."""

_METRIC = _STRONG | {
    Signal.GRAD_NORM_PARAM,
    Signal.UPDATE_RATIO,
    Signal.PARAM_NORM,
    Signal.SKIPPED_STEPS,
    Signal.CLIP_FRACTION,
    Signal.TRAIN_ACCURACY,
    Signal.EVAL_ACCURACY,
    Signal.TRAIN_ERROR,
    Signal.EVAL_ERROR,
    Signal.REWARD,
    Signal.RL,
}
_COUNTER = frozenset({Signal.STEP, Signal.EPOCH})
_AMOUNT = frozenset({Signal.TOKENS, Signal.SAMPLES})


def is_metric(name: str) -> bool:
    """True where a column of this name is what a training is judged by."""
    return classify(name) in _METRIC


def is_counter(name: str) -> bool:
    """True where a column of this name counts steps or epochs."""
    return classify(name) in _COUNTER


def is_training_table(names: Iterable[str]) -> bool:
    """True where a table with these numeric columns is the log of a training.

    A data set may well have a column called ``loss`` or ``step``. So it takes a counter and a
    metric, an amount (tokens, samples) and a quantity of a training, two different quantities of
    a training, or one and next to nothing that is unknown. ``epochs`` is a setting of a sweep.
    """
    signals = [classify(name) for name in names if name.strip() and normalise(name) != "epochs"]
    found = set(signals)
    strong = found & _STRONG
    if found & _COUNTER:
        return bool(found & _METRIC)
    if found & _AMOUNT and strong:
        return True
    strong -= {Signal.LR, Signal.LOSS_SCALE, Signal.LOSS_COMPONENT}  # a sweep lists these as well
    unknown = signals.count(Signal.OTHER)
    few_unknown = unknown == 0 or (unknown == 1 and len(signals) <= 4)
    return bool(strong) and (few_unknown or (len(found & _STRONG) > 1 and unknown < 50))


def is_history(names: Iterable[str]) -> bool:
    """True where there are a step and a loss by it: no table of results has both."""
    found = {classify(name) for name in names}
    return Signal.STEP in found and bool(found & {Signal.TRAIN_LOSS, Signal.EVAL_LOSS})
