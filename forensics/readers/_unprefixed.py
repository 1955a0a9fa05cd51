"""Whose metrics are those of a table that says so of its losses alone."""

from collections.abc import Sequence

from forensics.signals import Signal, classify, normalise

_LOSSES = ("train_loss", "training_loss")
_MEASURED = (Signal.TRAIN_ACCURACY, Signal.TRAIN_ERROR, Signal.OTHER)
_SCORES = (Signal.EVAL_ACCURACY, Signal.EVAL_ERROR)


def of_validation(heads: Sequence[str]) -> list[str]:
    """The heads, with ``valid`` before metrics of no part: ``train_loss valid_loss accuracy``.

    So fastai prints them: beside a training loss that is called so, and a validation loss, what is
    called by neither was measured on the validation set. Keras calls its training loss ``loss``.
    """
    names = [normalise(head) for head in heads]
    both = any(n in _LOSSES for n in names) and any(classify(n) is Signal.EVAL_LOSS for n in names)
    if not both:
        return list(heads)
    return [_of_validation(head, names) for head in heads]


def _of_validation(head: str, names: Sequence[str]) -> str:
    name = normalise(head)
    if name.startswith("train") or classify(name) not in _MEASURED:
        return head
    if classify(f"valid_{name}") not in _SCORES:
        return head
    told = any(n != name and n.endswith(f"_{name}") for n in names)
    return head if told else f"valid_{head}"
