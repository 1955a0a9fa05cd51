"""What all batches tell together: shares of the classes, their order, the scale of the inputs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from forensics.batch_facts import BatchFinding, Oddity
from forensics.batches._base import Sight
from forensics.batches._rarity import middle
from forensics.batches._wording import number
from forensics.batches.checks.class_counts import are_classes
from forensics.batches.checks.input_scale import BYTES

Sights = Mapping[tuple[Oddity, str], Sight]

FAR_FROM_UNIT = 30.0
"""Inputs of mean 0 and deviation 1 stay below ten, and so do images of 0 to 1."""
LEAST_BATCHES = 6
LEAST_LABELS = 4
"""Labels of a batch from which it is no coincidence that all are of one class."""


@dataclass(frozen=True)
class Together:
    """What holds for the batches as a whole."""

    findings: tuple[BatchFinding, ...] = ()
    class_shares: tuple[float, ...] = ()
    labels_counted: int = 0
    checked: tuple[Oddity, ...] = ()


def together(seen: Mapping[int, Sights]) -> Together:
    """Look at all batches at once.

    Args:
        seen: Step -> the sights of its batch, in order of the steps.
    """
    counted = {
        step: sight
        for step, sights in seen.items()
        for (oddity, _), sight in sights.items()
        if oddity is Oddity.CLASS_COUNTS
    }
    pooled: Counter[int] = Counter()
    for sight in counted.values():
        pooled.update(sight.counts)
    classes = are_classes(pooled)
    orderly = classes and len(counted) >= LEAST_BATCHES
    scales = list(_scales(seen.values()))
    return Together(
        findings=(*(_sorted(list(counted.values())) if orderly else ()), *scales),
        class_shares=_shares(pooled) if classes else (),
        labels_counted=pooled.total() if classes else 0,
        checked=(
            *((Oddity.LABELS_SORTED,) if orderly else ()),
            *((Oddity.INPUT_SCALE,) if _levels(seen.values()) else ()),
        ),
    )


def _shares(pooled: Counter[int]) -> tuple[float, ...]:
    return tuple(count / pooled.total() for _, count in pooled.most_common())


def _sorted(sights: Sequence[Sight]) -> tuple[BatchFinding, ...]:
    """One class after the other, each in one stretch of batches, at least two of them pure.

    Batches of one class each in random order (a class-conditional model has them) are no complaint.
    """
    chief = [_chief(sight) for sight in sights]
    runs = [label for label, _ in groupby(chief)]
    if len(set(runs)) < 2 or len(runs) > len(set(runs)):
        return ()
    pure = [c for c, s in zip(chief, sights, strict=True) if s.hits == s.of >= LEAST_LABELS]
    often = [label for label, times in Counter(pure).items() if times > 1]
    if len(often) < 2 or 2 * len(pure) < len(sights):
        return ()
    text = (
        f"{len(pure):,} of {len(sights):,} batches hold one class only, and the classes come one "
        f"after the other ({', '.join(f'{label:,}' for label in runs[:6])}"
        f"{', …' if len(runs) > 6 else ''})."
    )
    share = len(pure) / len(sights)
    return (BatchFinding(Oddity.LABELS_SORTED, sights[0].tensor, text, share),)


def _chief(sight: Sight) -> int:
    """The most frequent class."""
    return max(sight.counts, key=lambda label: (sight.counts[label], label))


def _levels(seen: Iterable[Sights]) -> dict[str, list[float]]:
    """Tensor -> its scale in each batch."""
    levels: dict[str, list[float]] = {}
    for sights in seen:
        for (oddity, tensor), sight in sights.items():
            if oddity is Oddity.INPUT_SCALE and sight.level and sight.detail != BYTES:
                levels.setdefault(tensor, []).append(sight.level)
    return levels


def _scales(seen: Iterable[Sights]) -> Iterator[BatchFinding]:
    """Inputs or targets that are far from unit scale in all batches."""
    for tensor, levels in _levels(seen).items():
        usual = middle(levels)
        if min(levels) > FAR_FROM_UNIT:
            text = (
                f"The largest magnitude of a sample of `{tensor}` is {number(usual)} in the "
                f"median of {len(levels):,} batches; standardised values stay below ten."
            )
            yield BatchFinding(Oddity.INPUT_SCALE, tensor, text, 1.0, usual)
