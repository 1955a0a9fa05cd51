"""Labels beyond the outputs of the model, or unlike any label of the controls."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Array, Batch, Kind, Part
from forensics.batches._wording import beside, capital, part_of

UNMARKED = frozenset({-1, 255})
"""Values that many data sets use for 'ignore', where the configuration does not tell."""
MOST_CLASSES = 1000
"""Different labels that are counted; more are tokens or numbers."""
ENOUGH = 6
"""Control batches from which a class that was never seen is unusual."""
FAR = 2
"""Times the number of classes of the controls: the next number may be one more class."""


def _look(batch: Batch, limits: Limits) -> Iterable[Sight]:
    for part in batch.of(Kind.LABELS):
        labels = part.values[~np.isin(part.values, list(limits.ignored))]
        outputs = _outputs(part, batch, limits)
        counts = _counted(labels)
        if outputs is None and (batch.is_per_token(part) or not counts):
            continue  # a text may always hold a token that no other one held
        wrong = _wrong(labels, outputs) if outputs is not None else labels[:0]
        yield Sight(
            part.name,
            len(wrong),
            max(labels.size, 1),
            value=_strangest(wrong),
            level=None if outputs is None else float(outputs),
            certain=outputs is not None,
            counts=counts,
        )


def _outputs(part: Part, batch: Batch, limits: Limits) -> int | None:
    """Labels the model has an output for; None where it is not known."""
    if batch.is_per_token(part):  # of a language model, or of a tagger
        known = (limits.vocabulary, limits.classes)
        return max((n for n in known if n), default=None) if limits.vocabulary else None
    return limits.classes


def _wrong(labels: Array, outputs: int) -> Array:
    wrong = labels[(labels < 0) | (labels >= outputs)]
    return wrong[~np.isin(wrong, list(UNMARKED))]


def _counted(labels: Array) -> Mapping[int, int]:
    """How often each label occurs; nothing where they are too many to be classes."""
    values, counts = np.unique(labels, return_counts=True)
    if len(values) > MOST_CLASSES:
        return {}
    return {int(v): int(n) for v, n in zip(values, counts, strict=True)}


def _strangest(labels: Array) -> float | None:
    return float(labels[np.abs(labels.astype(np.float64)).argmax()]) if labels.size else None


def _judge(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    return _beyond(sight, controls) if sight.certain else _never_seen(sight, controls)


def _beyond(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    if not sight.hits or sight.value is None or sight.level is None:
        return None
    text = (
        f"{part_of(sight, 'label')} {_lie(sight.hits)} outside 0 to {int(sight.level) - 1:,} "
        f"(such as {int(sight.value):,}), the outputs that the model has; "
        f"{beside(controls, 'label')}."
    )
    usual = [float(max(c.counts)) for c in controls if c.counts]
    return BatchFinding(
        Oddity.LABEL_OUT_OF_RANGE,
        sight.tensor,
        capital(text),
        sight.share,
        sight.value,
        float(np.median(usual)) if usual else None,
    )


def _never_seen(sight: Sight, controls: Sequence[Sight]) -> BatchFinding | None:
    """Labels far outside the controls' range, where those have met each of their classes often.

    By Good and Turing the chance that the next batch brings a new class is the share of classes
    met in one batch only; where there is none, a new label is a fault rather than a rare class.
    """
    met = Counter(label for control in controls for label in control.counts)
    if len(controls) < ENOUGH or len(met) < 2 or min(met.values()) < 2:
        return None
    low, high = min(*met, 0), max(met)
    wrong = {
        v: n
        for v, n in sight.counts.items()
        if not low <= v < FAR * (high + 1) and v not in UNMARKED
    }
    if not wrong:
        return None
    total = sum(sum(c.counts.values()) for c in controls)
    hits, strangest = sum(wrong.values()), max(wrong, key=abs)
    seen = Sight(sight.tensor, hits, sight.of)
    text = (
        f"{part_of(seen, 'label')} {_lie(hits)} outside {low:,} to {high:,} (such as "
        f"{strangest:,}), the range of {total:,} labels of {len(controls):,} control "
        "batches."
    )
    return BatchFinding(
        Oddity.LABEL_OUT_OF_RANGE,
        sight.tensor,
        capital(text),
        seen.share,
        float(strangest),
        float(high),
    )


def _lie(hits: int) -> str:
    return "lies" if hits == 1 else "lie"


CHECK = Check(Oddity.LABEL_OUT_OF_RANGE, _look, _judge)
