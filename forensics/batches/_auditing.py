"""Audits batches: a sight of each, one batch in memory at a time, then each against the others."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from forensics import registry
from forensics.batch_facts import BatchAudit, BatchFinding, BatchSurvey, Oddity
from forensics.batches import checks
from forensics.batches._base import LEAST_CONTROLS, Check, Sight
from forensics.batches._limits import Limits
from forensics.batches._parts import Named, recognise
from forensics.batches._together import Together, together

APART = 3.0
"""Times the usual share: a batch that shows what all show, but so much more, keeps its finding."""


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check, by the name of its file."""
    return tuple(registry.collect(checks, "CHECK"))


Sights = Mapping[tuple[Oddity, str], Sight]
"""(oddity, tensor) -> what was seen of it in one batch."""


@dataclass(frozen=True)
class _Judged:
    step: int
    findings: tuple[BatchFinding, ...]
    checked: tuple[Oddity, ...]


def audit(
    batches: Mapping[int, Named],
    suspects: Collection[int],
    limits: Limits,
    source: Callable[[int], str] | None = None,
) -> BatchSurvey:
    """Look at batches without running a model.

    Args:
        batches: Step -> its tensors by name. Each is asked for once, in order of the steps, and
            let go before the next, so the mapping may read them when they are asked for.
        suspects: Steps under suspicion; all others are controls.
        limits: What the model takes.
        source: Where the batch of a step came from, for the report.
    """
    came_from = source or "load_batch({})".format
    seen = {step: _sights(batches[step], limits) for step in sorted(batches)}
    judged = [_judge(step, seen, suspects) for step in seen]
    shared = _everywhere(_base(judged, suspects))
    usual = {(f.oddity, f.tensor): f.share for f in shared}
    audits = tuple(
        BatchAudit(
            step=j.step,
            source=came_from(j.step),
            suspect=j.step in suspects,
            findings=tuple(f for f in j.findings if _stands_out(f, usual)),
            checked=j.checked,
        )
        for j in judged
    )
    common = together(seen)
    return BatchSurvey(
        audits=audits,
        everywhere=(*shared, *common.findings),
        class_shares=common.class_shares,
        labels_counted=common.labels_counted,
        checked=common.checked,
        unchecked=tuple(_unchecked(audits, common)),
    )


def _sights(named: Named, limits: Limits) -> Sights:
    batch = recognise(named, limits)
    return {(c.oddity, s.tensor): s for c in all_checks() for s in c.look(batch, limits)}


def _judge(step: int, seen: Mapping[int, Sights], suspects: Collection[int]) -> _Judged:
    findings: list[BatchFinding] = []
    checked: set[Oddity] = set()
    for check in all_checks():
        for (oddity, tensor), sight in seen[step].items():
            if oddity is not check.oddity:
                continue
            controls = _controls(step, (oddity, tensor), seen, suspects)
            if not sight.certain and len(controls) < LEAST_CONTROLS:
                continue
            checked.add(oddity)
            finding = check.judge(sight, controls)
            findings += [finding] if finding is not None else []
    return _Judged(step, tuple(findings), tuple(o for o in Oddity if o in checked))


def _controls(
    step: int, key: tuple[Oddity, str], seen: Mapping[int, Sights], suspects: Collection[int]
) -> list[Sight]:
    """The same tensor of the other batches.

    Of a suspect those before it, for what broke the data may last; of suspects only where there
    are too few others.
    """
    others = {s: sights[key] for s, sights in seen.items() if s != step and key in sights}
    innocent = {s: sight for s, sight in others.items() if s not in suspects}
    before = [sight for s, sight in innocent.items() if s < step]
    if step in suspects and len(before) >= LEAST_CONTROLS:
        return before
    return list((innocent if len(innocent) >= LEAST_CONTROLS else others).values())


def _base(judged: Sequence[_Judged], suspects: Collection[int]) -> Sequence[_Judged]:
    """The batches that say what is usual: from before the first suspect, or else what there is."""
    innocent = [j for j in judged if j.step not in suspects]
    first = min((j.step for j in judged if j.step in suspects), default=None)
    before = [j for j in innocent if first is None or j.step < first]
    return next((chosen for chosen in (before, innocent) if len(chosen) > 1), judged)


def _everywhere(judged: Sequence[_Judged]) -> tuple[BatchFinding, ...]:
    """What at least half of the batches show, once for all of them."""
    found: dict[tuple[Oddity, str], list[BatchFinding]] = defaultdict(list)
    for one in judged:
        for finding in one.findings:
            found[finding.oddity, finding.tensor].append(finding)
    return tuple(
        _of_all(alike, len(judged))
        for alike in found.values()
        if len(alike) > 1 and 2 * len(alike) >= len(judged)
    )


def _of_all(alike: Sequence[BatchFinding], batches: int) -> BatchFinding:
    middle = sorted(alike, key=lambda f: (f.share, f.text))[len(alike) // 2]
    text = f"{len(alike):,} of {batches:,} batches are like this: {middle.text}"
    share = float(np.median([f.share for f in alike]))
    return replace(middle, text=text, share=share)


def _stands_out(finding: BatchFinding, usual: Mapping[tuple[Oddity, str], float]) -> bool:
    share = usual.get((finding.oddity, finding.tensor))
    return share is None or finding.share > APART * share


def _unchecked(audits: Iterable[BatchAudit], common: Together) -> Iterator[str]:
    audits = tuple(audits)
    if 0 < len(audits) <= LEAST_CONTROLS:
        yield (
            f"Scale, lengths, repeats and class counts need {LEAST_CONTROLS} control batches; "
            f"{len(audits):,} in all were there."
        )
    done = {oddity for a in audits for oddity in a.checked}
    if audits and Oddity.LABEL_OUT_OF_RANGE not in done:
        yield "Labels could not be held against the model: needs the number of its outputs."
    if audits and not done:
        yield "No tensor has a name that tells what it is, such as input_ids, inputs, x or labels."
