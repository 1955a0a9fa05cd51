"""The objective of a run that calls it neither loss nor by any known name.

``recon/train_step`` beside ``recon/val``: TensorBoard and W&B group curves by what stands before
the slash, so a quantity that has a part for training and one for validation is what was trained,
where nothing in the run is called a loss.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from forensics.medians import median
from forensics.run import Series
from forensics.signals import Signal, classify, normalise

_PARTED = re.compile(
    r"(?P<stem>.+)/(?:(?P<train>train(?:ing)?)|val(?:id|idation)?|eval|dev)(?:_(?:step|epoch))?"
)
_UNKNOWN = (Signal.OTHER, Signal.STEP)
_NO_OBJECTIVE = re.compile(
    r"(?:.*[^a-z])?(?:times?|data|size|counts?|num\w*|n|samples|norm|std|var|mean|max|min|weights?|"
    r"acc\w*|\w*score|\w*f\d|auc|auroc|m?ap|m?iou|dice|bleu|rouge\w*|r2|\w*corr\w*|psnr|ssim|precision|recall|"
    r"reward|return|entropy|memory|speed|fps|runtime|hours?|seconds?)(?:[^a-z].*)?"
)
_MAXIMISED = re.compile(r"(?:.*[^a-z])?(?:elbo|log_?(?:likelihood|prob)|likelihood|ll)")
_LEAST = 3
_RISE = 0.5
"""Standard deviations of all values by which the last must lie above the first."""


@dataclass(frozen=True)
class Objective:
    """Tags of what was trained."""

    train: frozenset[str]
    held_out: frozenset[str]


def objective_of(series: Iterable[Series]) -> Objective | None:
    """The one quantity with a part for training and one for validation; None where it is not one.

    Args:
        series: Everything that was logged, of which nothing is called a loss.
    """
    stems: dict[str, tuple[list[Series], list[Series]]] = {}
    for one in series:
        found = _PARTED.fullmatch(normalise(one.tag))
        if (
            found is None
            or classify(one.tag) not in _UNKNOWN
            or _NO_OBJECTIVE.fullmatch(found["stem"])
        ):
            continue
        parts = stems.setdefault(found["stem"], ([], []))
        parts[0 if found["train"] else 1].append(one)
    whole = [(train, held) for stem, (train, held) in stems.items() if _is_one(stem, train, held)]
    if len(whole) != 1:
        return None
    train, held = whole[0]
    return Objective(frozenset(s.tag for s in train), frozenset(s.tag for s in held))


def _is_one(stem: str, train: Sequence[Series], held: Sequence[Series]) -> bool:
    """Whether both parts were measured, and are no counts, no shares and nothing to maximise."""
    if not train or not held:
        return False
    value = np.concatenate([one.value for one in train])
    finite = value[np.isfinite(value)]
    if len(finite) < _LEAST or np.all(finite == np.rint(finite)):
        return False
    third = max(1, len(finite) // 3)
    rises = median(finite[-third:]) - median(finite[:third]) > _RISE * float(finite.std())
    shares = bool(finite.min() >= 0 and finite.max() <= 1)
    return not (rises and (shares or _MAXIMISED.fullmatch(stem)))
