"""Labels of a language model that stand at other tokens than the next ones.

What a model learns to tell is the token itself where the model shifts (transformers), the next one
where the loader did. Any other place gives it the correct gradients of a wrong task.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Array, Batch, Kind, Part
from forensics.batches._wording import capital, part_of

RIGHT = (0, 1)
"""Places after its input at which a label may stand: the model shifts, or the loader did."""
FURTHEST = 64
SAME, OTHERS, ENOUGH = 0.98, 0.8, 32
"""Share of labels that equal the token at one place, and at most at any other; labels for that."""


def _look(batch: Batch, limits: Limits) -> Iterable[Sight]:
    for labels in batch.of(Kind.LABELS):
        counts = ~np.isin(labels.values, list(limits.ignored))
        for tokens in batch.of(Kind.TOKENS):
            if labels.values.ndim == 2 and tokens.values.shape == labels.values.shape:
                yield from _told(labels, tokens, counts)


def _told(labels: Part, tokens: Part, counts: NDArray[np.bool_]) -> Iterable[Sight]:
    """One sight where the labels are these tokens, at whatever place; else they are others."""
    reach = min(FURTHEST, labels.values.shape[1] // 2)
    met = {k: _meeting(labels.values, tokens.values, counts, k) for k in range(-reach, reach + 1)}
    shares = {k: same / of for k, (same, of) in met.items() if of >= ENOUGH}
    if not shares:
        return
    place = max(shares, key=lambda k: (shares[k], -abs(k)))
    rest = max((share for k, share in shares.items() if k != place), default=0.0)
    if shares[place] >= SAME and rest <= OTHERS:
        same, of = met[place]
        wrong = 0 if place in RIGHT else same
        yield Sight(labels.name, wrong, of, value=float(place), certain=True, detail=tokens.name)


def _meeting(
    labels: Array, tokens: Array, counts: NDArray[np.bool_], place: int
) -> tuple[int, int]:
    """Labels that equal the token ``place`` further on, and all that have one there."""
    length = labels.shape[1]
    here = slice(max(0, -place), min(length, length - place))
    there = slice(max(0, place), min(length, length + place))
    kept = counts[:, here]
    same = (labels[:, here] == tokens[:, there]) & kept
    return int(np.count_nonzero(same)), int(np.count_nonzero(kept))


def _judge(sight: Sight, _: Sequence[Sight]) -> BatchFinding | None:
    if not sight.hits or sight.value is None:
        return None
    place = int(sight.value)
    where = f"{abs(place):,} places {'further on' if place > 0 else 'back'}"
    text = (
        f"{part_of(sight, 'label')} are the tokens of `{sight.detail}` {where}; those of the same "
        "place or of the next one belong there."
    )
    return BatchFinding(
        Oddity.LABELS_SHIFTED, sight.tensor, capital(text), sight.share, sight.value, None
    )


CHECK = Check(Oddity.LABELS_SHIFTED, _look, _judge)
