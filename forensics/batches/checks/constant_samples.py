"""Samples that are one value throughout: blank images, silent recordings."""

from collections.abc import Iterable, Sequence

import numpy as np

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Batch, Kind
from forensics.batches._rarity import is_unusual
from forensics.batches._samples import constant
from forensics.batches._wording import beside, capital, part_of

LEAST_VALUES = 8
"""Samples of fewer values are equal by chance."""


def _look(batch: Batch, limits: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.TOKENS, Kind.FEATURES):
        if part.values[0].size < LEAST_VALUES:
            continue
        blank = constant(part.values) & np.isfinite(part.values.reshape(len(part.values), -1)[:, 0])
        if part.kind is Kind.TOKENS:  # what is all padding is an empty sample
            first = part.values[:, 0]
            blank &= first != limits.padding if limits.padding is not None else True
            blank &= part.counts.any(axis=1) if part.counts is not None else True
        yield Sight(part.name, int(blank.sum()), len(blank))


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    if not is_unusual(sight, controls):
        return None
    verb = "is" if sight.hits == 1 else "are"
    text = f"{part_of(sight)} {verb} one value throughout; {beside(controls)}."
    usual = float(np.median([c.share for c in controls]))
    return BatchFinding(
        Oddity.CONSTANT_SAMPLE, sight.tensor, capital(text), sight.share, sight.share, usual
    )


CHECK = Check(Oddity.CONSTANT_SAMPLE, _look, _judge)
