"""The logged quantities in words, and which way each of them is better."""

from forensics.signals import Signal

_WORDS = {
    Signal.TRAIN_LOSS: "training loss",
    Signal.TRAIN_LOSS_EPOCH: "training loss per epoch",
    Signal.EVAL_LOSS: "validation loss",
    Signal.EVAL_ACCURACY: "validation score",
    Signal.EVAL_ERROR: "validation error",
    Signal.TRAIN_ERROR: "training error",
    Signal.TRAIN_ACCURACY: "training accuracy",
    Signal.LR: "learning rate",
    Signal.GRAD_NORM: "gradient norm",
    Signal.GRAD_NORM_CLIPPED: "gradient norm after clipping",
    Signal.GRAD_NORM_PARAM: "gradient norm of a parameter",
    Signal.CLIP_FRACTION: "share of clipped steps",
    Signal.PARAM_NORM: "weight norm",
}
LOSSES = frozenset(
    {Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH, Signal.EVAL_LOSS, Signal.LOSS_COMPONENT}
)
GRADIENTS = frozenset({Signal.GRAD_NORM, Signal.GRAD_NORM_CLIPPED, Signal.GRAD_NORM_PARAM})
_LOWER = LOSSES | {Signal.EVAL_ERROR, Signal.TRAIN_ERROR}
_HIGHER = frozenset({Signal.EVAL_ACCURACY, Signal.TRAIN_ACCURACY})
JUDGED = _LOWER | _HIGHER | GRADIENTS
"""The quantities that tell how a training goes; a rate or a speed does not."""


def named(signal: Signal) -> str:
    """The quantity in words."""
    return _WORDS.get(signal, signal.value.replace("_", " "))


def is_better(signal: Signal, before: float, after: float) -> bool | None:
    """True where ``after`` is better, False where it is worse, None where neither can be said."""
    if before == after or signal not in _LOWER | _HIGHER:
        return None
    return (after < before) is (signal in _LOWER)
