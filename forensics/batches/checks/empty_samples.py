"""Samples of which every token is masked or padding."""

from collections.abc import Iterable, Sequence

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Batch, Kind
from forensics.batches._rarity import is_unusual
from forensics.batches._samples import lengths
from forensics.batches._wording import beside, capital, part_of


def _look(batch: Batch, limits: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.TOKENS):
        if part.counts is None and limits.padding is None:
            continue
        empty = int((lengths(part.values, part.counts, limits.padding) == 0).sum())
        yield Sight(part.name, empty, len(part.values))


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    if not is_unusual(sight, controls):
        return None
    verb = "holds" if sight.hits == 1 else "hold"
    text = f"{part_of(sight)} {verb} nothing but padding; {beside(controls)}."
    return BatchFinding(Oddity.EMPTY_SAMPLE, sight.tensor, capital(text), sight.share)


CHECK = Check(Oddity.EMPTY_SAMPLE, _look, _judge)
