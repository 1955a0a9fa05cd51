"""Batches whose classes are far from the controls', such as one class alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

import numpy as np

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Batch, Kind
from forensics.batches._wording import capital, part_of

MOST_CLASSES = 1000
SAMPLES_A_CLASS = 2
"""Labels of which nearly each is another are numbers rather than classes."""
IMPROBABLE = 14.0
"""-ln(one in a million): log-likelihood ratio that one class makes up so much of a batch."""
APART = 3.0
"""Times the largest ratio of any control: samplers that group by class have large ones too."""


def _look(batch: Batch, limits: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.LABELS):
        if part.values.ndim != 1 or len(part.values) < 2:
            continue
        values, counts = np.unique(part.values, return_counts=True)
        kept = ~np.isin(values, list(limits.ignored))
        found = {int(v): int(n) for v, n in zip(values[kept], counts[kept], strict=True)}
        if found and len(found) <= MOST_CLASSES:
            yield Sight(part.name, max(found.values()), sum(found.values()), counts=found)


def are_classes(pooled: Mapping[int, int]) -> bool:
    """True where labels repeat as classes do."""
    return len(pooled) > 1 and sum(pooled.values()) >= SAMPLES_A_CLASS * len(pooled)


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    pooled: Counter[int] = Counter()
    for control in controls:
        pooled.update(control.counts)
    if not are_classes(pooled):
        return None
    chief = max(sight.counts, key=lambda c: (sight.counts[c], c))
    surprise = _surprise(sight, chief, pooled)
    ordinary = max(_most_surprising(c, pooled - Counter(c.counts)) for c in controls)
    if surprise < max(IMPROBABLE, APART * ordinary):
        return None
    usual = pooled[chief] / pooled.total()
    text = (
        f"{part_of(sight, 'label')} are class {chief:,}; of {pooled.total():,} labels of "
        f"{len(controls):,} control batches {100 * usual:.0f} % are."
    )
    return BatchFinding(
        Oddity.CLASS_COUNTS, sight.tensor, capital(text), sight.share, sight.share, usual
    )


def _most_surprising(control: Sight, others: Counter[int]) -> float:
    return max(_surprise(control, label, others) for label in control.counts)


def _surprise(sight: Sight, label: int, pooled: Counter[int]) -> float:
    """Nats, n KL(share in the batch || share in the controls); 0 where it is not more often."""
    share = sight.counts[label] / sight.of
    usual = (pooled[label] + 1) / (pooled.total() + len(pooled) + 1)
    if share <= usual:
        return 0.0
    rest = (1 - share) * log((1 - share) / (1 - usual)) if share < 1 else 0.0
    return sight.of * (share * log(share / usual) + rest)


CHECK = Check(Oddity.CLASS_COUNTS, _look, _judge)
