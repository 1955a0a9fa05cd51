"""Token ids that are spread like noise, where the controls are text.

Natural language, code and proteins alike use few of their tokens most of the time. A damaged
buffer, a wrong offset or another encoding does not.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Array, Batch, Kind
from forensics.batches._rarity import stands_apart
from forensics.batches._wording import number

NATS = 0.9
"""Another language or code moves the entropy by less."""
LEAST_TOKENS = 256
SPREAD = 2.0
"""A batch of much fewer or more tokens than the controls has another entropy for that alone."""


def _look(batch: Batch, limits: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.TOKENS):
        tokens = part.values if part.counts is None else part.values[part.counts]
        if limits.padding is not None:
            tokens = tokens[tokens != limits.padding]
        if tokens.size >= LEAST_TOKENS:
            entropy = _entropy(tokens)
            yield Sight(part.name, tokens.size, tokens.size, value=entropy, level=tokens.size)


def _entropy(tokens: Array) -> float:
    """Of the single tokens, in nats."""
    share = np.unique(tokens, return_counts=True)[1] / tokens.size
    return float(-(share * np.log(share)).sum())


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    size = sight.level or 0.0
    if any(not 1 / SPREAD <= (c.level or 0.0) / size <= SPREAD for c in controls):
        return None
    usual = [c.value or 0.0 for c in controls]
    if sight.value is None or not stands_apart(sight.value, usual, NATS):
        return None
    middle = float(np.median(usual))
    text = (
        f"The entropy of the tokens of `{sight.tensor}` is {number(sight.value)} nats, like noise; "
        f"in {len(controls):,} control batches it is {number(middle)}, at most "
        f"{number(max(usual))}."
    )
    return BatchFinding(Oddity.TOKEN_NOISE, sight.tensor, text, 1.0, sight.value, middle)


CHECK = Check(Oddity.TOKEN_NOISE, _look, _judge)
