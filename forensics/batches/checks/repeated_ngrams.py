"""A few tokens repeated over and over: what OLMo 2 found in the batches of its spikes.

The rule is theirs (arXiv 2501.00656, section 3.1): an n-gram of 1 to 13 tokens, 32 times or more.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Array, Batch, Kind, Part
from forensics.batches._rarity import is_unusual
from forensics.batches._samples import blocks
from forensics.batches._wording import beside, capital, part_of

LONGEST = 13
TIMES = 32


def _look(batch: Batch, limits: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.TOKENS):
        if part.values.shape[1] < TIMES:
            continue
        times = np.concatenate([_repeats(block) for block in blocks(_filled(part, limits))])
        yield Sight(
            part.name, int((times >= TIMES).sum()), len(part.values), value=float(times.max())
        )


def _filled(part: Part, limits: Limits) -> Array:
    """The tokens with a different negative number for each place of padding: it never repeats."""
    tokens = part.values.astype(np.int64)
    padding = _edges(tokens) if part.counts is None else ~part.counts
    if limits.padding is not None:
        padding |= tokens == limits.padding
    places = np.broadcast_to(-1 - np.arange(tokens.shape[1]), tokens.shape)
    return np.where(padding, places + np.int64(-(1 << 40)), tokens)


def _edges(tokens: Array) -> NDArray[np.bool_]:
    """Runs of one token at either end of a sample, which are padding for all one can tell."""
    left = np.logical_and.accumulate(tokens == tokens[:, :1], axis=1)
    right = np.logical_and.accumulate((tokens == tokens[:, -1:])[:, ::-1], axis=1)[:, ::-1]
    edges: NDArray[np.bool_] = left | right
    return edges


def _repeats(tokens: Array) -> NDArray[np.int64]:
    """How often in a row the most repeated n-gram of each sample comes, shape (samples,)."""
    most = np.ones(len(tokens), np.int64)
    for n in range(1, min(LONGEST, tokens.shape[1] - 1) + 1):
        most = np.maximum(most, _longest_run(tokens[:, n:] == tokens[:, :-n]) // n + 1)
    return most


def _longest_run(equal: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Length of the longest stretch of True in each row."""
    place = np.arange(1, equal.shape[1] + 1)
    last_gap = np.maximum.accumulate(np.where(equal, 0, place), axis=1)
    return np.asarray((place - last_gap).max(axis=1, initial=0), np.int64)


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    if not is_unusual(sight, controls):
        return None
    text = (
        f"{part_of(sight)} repeat{'s' if sight.hits == 1 else ''} the same 1 to {LONGEST} tokens "
        f"{TIMES} times or more in a row (up to {int(sight.value or 0):,} times); "
        f"{beside(controls)}."
    )
    usual = float(np.median([c.value or 0.0 for c in controls]))
    return BatchFinding(
        Oddity.REPEATED_NGRAM, sight.tensor, capital(text), sight.share, sight.value, usual
    )


CHECK = Check(Oddity.REPEATED_NGRAM, _look, _judge)
