"""Which quantity a series is: its tag, and where the tag leaves it open, the folder it lies in."""

import re

from forensics.run import Series
from forensics.signals import Signal, classify

_VALIDATION_DIR = re.compile(r"(?:^|/)(?:validation|valid|val|eval|test|dev)/[^/]+$", re.IGNORECASE)
_TO_VALIDATION = {
    Signal.TRAIN_LOSS: Signal.EVAL_LOSS,
    Signal.TRAIN_LOSS_EPOCH: Signal.EVAL_LOSS,
    Signal.TRAIN_ACCURACY: Signal.EVAL_ACCURACY,
    Signal.TRAIN_ERROR: Signal.EVAL_ERROR,
}


def signal_of(series: Series) -> Signal:
    """Classify a series. Keras and fairseq write the same tag to ``train/`` and ``validation/``."""
    signal = classify(series.tag)
    names_split = series.tag.lower().startswith(("train", "training"))
    if not names_split and _VALIDATION_DIR.search(series.source):
        return _TO_VALIDATION.get(signal, signal)
    return signal
