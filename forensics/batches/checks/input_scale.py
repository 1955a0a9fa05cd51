"""Inputs and targets whose range is orders of magnitude off the controls'."""

from collections.abc import Iterable, Sequence
from math import log

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Batch, Kind
from forensics.batches._rarity import middle, stands_apart
from forensics.batches._samples import largest
from forensics.batches._wording import number, part_of

FACTOR = 10.0
"""Smaller ratios are a matter of contrast, loudness or a rare sample."""

BYTES = "bytes"
"""Detail of pixels as the file has them: the model is what scales them."""


def _look(batch: Batch, _: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.FEATURES, Kind.TARGETS):
        each = largest(part.values)
        top, level = float(each.max()), middle(each.tolist())
        detail = "" if part.values.dtype.kind == "f" else BYTES
        yield Sight(part.name, len(each), len(each), top, level, detail=detail, each=each)


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    return _too_large(sight, controls) or _too_small(sight, controls)


def _too_large(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    tops = [c.value for c in controls if c.value]
    if not sight.value or sight.each is None or len(tops) < len(controls):
        return None
    if not stands_apart(log(sight.value), [log(t) for t in tops], log(FACTOR)):
        return None
    beyond = int((sight.each > max(tops)).sum())
    text = (
        f"The largest magnitude in `{sight.tensor}` is {number(sight.value)}; in "
        f"{len(controls):,} control batches it is at most {number(max(tops))}, which "
        f"{part_of(Sight(sight.tensor, beyond, sight.of))} exceed{'s' if beyond == 1 else ''}."
    )
    usual = middle(tops)
    share = beyond / sight.of
    return BatchFinding(Oddity.INPUT_SCALE, sight.tensor, text, share, sight.value, usual)


def _too_small(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    """Half of the samples or more are tiny: scaled twice, or scaled by another range."""
    levels = [c.level for c in controls if c.level]
    if not sight.level or len(levels) < len(controls):
        return None
    if not stands_apart(-log(sight.level), [-log(v) for v in levels], log(FACTOR)):
        return None
    usual = middle(levels)
    text = (
        f"The largest magnitude of a sample of `{sight.tensor}` is {number(sight.level)} in the "
        f"median; in {len(controls):,} control batches it is {number(usual)}."
    )
    return BatchFinding(Oddity.INPUT_SCALE, sight.tensor, text, 1.0, sight.level, usual)


CHECK = Check(Oddity.INPUT_SCALE, _look, _judge)
