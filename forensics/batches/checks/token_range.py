"""Token ids that the embedding has no row for."""

from collections.abc import Iterable, Sequence

import numpy as np

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Batch, Kind
from forensics.batches._wording import beside, capital, part_of


def _look(batch: Batch, limits: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.TOKENS):
        low, high = int(part.values.min()), int(part.values.max())
        rows = limits.vocabulary
        wrong = part.values < 0
        if rows is not None:
            wrong |= part.values >= rows
        hits = int(wrong.sum())
        yield Sight(
            part.name,
            hits,
            part.values.size,
            value=float(low if low < 0 else high),
            level=None if rows is None else float(rows),
            certain=rows is not None,
        )


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    if not sight.hits or sight.value is None:
        return None
    if not sight.certain and any(c.hits for c in controls):
        return None
    rows = "below zero" if sight.level is None else f"outside 0 to {int(sight.level) - 1:,}"
    reason = "" if sight.level is None else ", the rows of the embedding"
    verb = "lies" if sight.hits == 1 else "lie"
    text = (
        f"{part_of(sight, 'token')} {verb} {rows} (such as {int(sight.value):,}){reason}; "
        f"{beside(controls, 'token')}."
    )
    usual = [c.value for c in controls if c.value is not None]
    return BatchFinding(
        Oddity.TOKEN_OUT_OF_RANGE,
        sight.tensor,
        capital(text),
        sight.share,
        sight.value,
        float(np.median(usual)) if usual else None,
    )


CHECK = Check(Oddity.TOKEN_OUT_OF_RANGE, _look, _judge)
