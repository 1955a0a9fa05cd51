"""Batches in which no label counts: their mean loss is 0/0."""

from collections.abc import Iterable, Sequence

import numpy as np

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Batch, Kind, Part
from forensics.batches._wording import capital, part_of


def _look(batch: Batch, limits: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.LABELS):
        masked = np.isin(part.values, list(limits.ignored))
        first = int(part.values.flat[0])
        if not masked.any() and _may_be_ignored(first, part, batch, limits):
            masked = part.values == first
        certain = first in limits.ignored
        yield Sight(part.name, int(masked.sum()), masked.size, value=first, certain=certain)
    for part in batch.of(Kind.LOSS_MASK):
        masked = part.values == 0
        yield Sight(part.name, int(masked.sum()), masked.size, value=0, certain=True, detail="mask")


def _may_be_ignored(label: int, part: Part, batch: Batch, limits: Limits) -> bool:
    """True for a value that a loss may have been told to leave out; classes may be -1 and 1."""
    filler = batch.is_per_token(part) and label == limits.padding
    return (label < 0 and part.values.ndim > 1) or filler


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    if sight.hits < sight.of or (not sight.certain and any(c.hits == c.of for c in controls)):
        return None
    usual = float(np.median([c.share for c in controls])) if controls else None
    beside = (
        "there is no other batch to compare"
        if usual is None
        else f"in {len(controls):,} control batches {100 * usual:.0f} % are, in the median"
    )
    if sight.detail:
        text = f"{part_of(sight, 'weight')} are 0, so that no label counts; {beside}."
    else:
        text = f"{part_of(sight, 'label')} are the ignored value {int(sight.value or 0)}; {beside}."
    return BatchFinding(Oddity.LABELS_ALL_MASKED, sight.tensor, capital(text), 1.0, 1.0, usual)


CHECK = Check(Oddity.LABELS_ALL_MASKED, _look, _judge)
