"""NaN and infinity in inputs and targets."""

from collections.abc import Iterable, Sequence

import numpy as np

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Array, Batch, Kind
from forensics.batches._samples import blocks
from forensics.batches._wording import beside, capital, part_of


def _look(batch: Batch, _: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.FEATURES, Kind.TARGETS, Kind.LOOSE):
        if part.values.dtype.kind != "f":
            continue
        known = part.kind is not Kind.LOOSE
        samples, nans, infinities = 0, 0, 0
        for block in blocks(part.values):
            nan, infinite = np.isnan(block), _infinite(block, known)
            samples += int((nan | infinite).any(axis=1).sum())
            nans, infinities = nans + int(nan.sum()), infinities + int(infinite.sum())
        what = "NaN" if nans else "infinity"
        yield Sight(
            part.name,
            samples,
            len(part.values),
            value=float(nans + infinities),
            certain=known,
            detail=f"{what} ({nans + infinities:,} of {part.values.size:,} values)",
        )


def _infinite(block: Array, known: bool) -> Array:
    """Of a tensor of unknown purpose minus infinity is let pass: additive masks are full of it."""
    found: Array = np.isinf(block) if known else np.isposinf(block)
    return found


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    if not sight.hits or (not sight.certain and any(c.hits for c in controls)):
        return None
    verb = "holds" if sight.hits == 1 else "hold"
    text = f"{part_of(sight)} {verb} {sight.detail}; {beside(controls)}."
    usual = float(np.median([c.value or 0.0 for c in controls])) if controls else None
    return BatchFinding(
        Oddity.NON_FINITE_INPUT, sight.tensor, capital(text), sight.share, sight.value, usual
    )


CHECK = Check(Oddity.NON_FINITE_INPUT, _look, _judge)
