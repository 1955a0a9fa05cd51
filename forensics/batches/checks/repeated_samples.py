"""The same sample several times in one batch."""

from collections.abc import Iterable, Sequence

import numpy as np

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Batch, Kind, Part
from forensics.batches._rarity import is_unusual
from forensics.batches._samples import blocks, constant
from forensics.batches._wording import beside, capital, part_of


def _look(batch: Batch, _: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.TOKENS, Kind.FEATURES):
        if len(part.values) < 2:
            continue
        yield Sight(part.name, _repeats(part), len(part.values))


def _repeats(part: Part) -> int:
    """Samples that equal an earlier one; blank ones are another check's."""
    blank, seen, repeats, at = constant(part.values), set[int](), 0, 0
    for block in blocks(part.values):
        for row in np.ascontiguousarray(block):
            if not blank[at]:
                key = hash(row.tobytes())
                repeats += key in seen
                seen.add(key)
            at += 1
    return repeats


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    if not is_unusual(sight, controls):
        return None
    verb = "repeats" if sight.hits == 1 else "repeat"
    text = f"{part_of(sight)} {verb} another one of the batch; {beside(controls)}."
    usual = float(np.median([c.share for c in controls]))
    return BatchFinding(
        Oddity.REPEATED_SAMPLE, sight.tensor, capital(text), sight.share, sight.share, usual
    )


CHECK = Check(Oddity.REPEATED_SAMPLE, _look, _judge)
