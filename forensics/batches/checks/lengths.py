"""Sequences longer than the model takes, or far longer than the controls'."""

from collections.abc import Iterable, Sequence
from math import log

import numpy as np

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Batch, Kind
from forensics.batches._rarity import stands_apart
from forensics.batches._samples import lengths
from forensics.batches._wording import capital, part_of

FACTOR = 1.5
"""Half as long again as any other."""


def _look(batch: Batch, limits: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.TOKENS):
        each = lengths(part.values, part.counts, limits.padding).astype(np.float64)
        beyond = limits.positions is not None and part.values.shape[1] > limits.positions
        yield Sight(
            part.name,
            len(each),
            len(each),
            value=float(part.values.shape[1] if beyond else each.max()),
            level=None if limits.positions is None else float(limits.positions),
            certain=beyond,
            each=each,
        )


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    longest = [c.value for c in controls if c.value]
    usual = float(np.median(longest)) if longest else None
    if sight.certain and sight.value and sight.level:
        text = (
            f"`{sight.tensor}` is {int(sight.value):,} tokens long; the model has "
            f"{int(sight.level):,} positions."
        )
        return BatchFinding(Oddity.OVERLONG, sight.tensor, text, 1.0, sight.value, usual)
    if not sight.value or sight.each is None or not longest:
        return None
    if not stands_apart(log(sight.value), [log(v) for v in longest], log(FACTOR)):
        return None
    over = int((sight.each > max(longest)).sum())
    seen = Sight(sight.tensor, over, sight.of)
    text = (
        f"{part_of(seen)} {'is' if over == 1 else 'are'} longer than any of {len(controls):,} "
        f"control batches: {int(sight.value):,} tokens against {int(max(longest)):,}."
    )
    return BatchFinding(
        Oddity.OVERLONG, sight.tensor, capital(text), seen.share, sight.value, usual
    )


CHECK = Check(Oddity.OVERLONG, _look, _judge)
