"""The loss of a run that logs none by that name: what it minimises, or the sum of its parts.

A detector's ``train/box_loss``, ``train/cls_loss`` and ``train/dfl_loss`` are added up to what was
trained; two networks that play against each other have no sum, nor have an actor and its critic.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from forensics.objectives import objective_of
from forensics.run import Series
from forensics.signals import Signal, adversary_of, names_objective, normalise
from forensics.timeline._choice import Tagged

SUM = "loss (sum)"
"""Tag of a sum, after the prefix that its parts share."""
_PREFIX = re.compile(
    r"(?P<prefix>(?P<eval>val(?:id|idation)?|eval(?:uation)?|test|dev)[/_]|(?:train(?:ing)?|losses)[/_]|)"
    r"(?P<stem>.+)"
)
_PART = re.compile(r"(?:.*[/_])?loss(?:es)?(?:[/_].*)?|.*_nll|kl_?div(?:ergence)?|kld|kl_term")
_STATISTIC = re.compile(
    r"(?:.*[/_(])?(?:max|min|std|var|ema|smooth\w*|best|avg|average|mean|median|weight|scale|ratio|"
    r"count|running|delta|diff|last|prev|actor|critic|policy|value|q|qf\d?|alpha|ent|entropy|coef)"
    r"(?:[/_)].*)?"
)
_AUXILIARY = re.compile(
    r"(?:.*[/_])?(?:aux\w*|z|lb|load|balanc\w*|reg\w*|l2|moe|router)(?:[/_].*)?"
)
_TOLD = {Signal.EVAL_LOSS, Signal.TRAIN_ERROR, Signal.EVAL_ERROR}
_PLAYED = (Signal.REWARD, Signal.RL)


def with_totals(groups: Mapping[Signal, Tagged]) -> dict[Signal, Tagged]:
    """Series by quantity and tag, with a loss where only its parts or another name were logged."""
    kept = {signal: dict(tagged) for signal, tagged in groups.items()}
    components = kept.get(Signal.LOSS_COMPONENT, {})
    if any(signal in kept for signal in _PLAYED) or any(map(adversary_of, components)):
        return kept
    stems = {_stem(tag) for tag in components if _is_part(tag)}
    _add_up_validation(kept, stems)
    if Signal.TRAIN_LOSS in kept or Signal.TRAIN_LOSS_EPOCH in kept:
        return kept
    whole = [tag for tag in components if names_objective(tag)]
    parts = {tag: found for tag, found in components.items() if _is_part(tag)}
    if whole:
        kept[Signal.TRAIN_LOSS] = {tag: components.pop(tag) for tag in whole}
    elif sum(not _AUXILIARY.fullmatch(_stem(tag)) for tag in parts) >= 2:
        _put(kept, Signal.TRAIN_LOSS, _sums(parts))
    elif not parts and not kept.keys() & _TOLD:
        _take_objective(kept)
    return kept


def _take_objective(kept: dict[Signal, Tagged]) -> None:
    """What has a part for training and one for validation, by whatever name."""
    unknown = {**kept.get(Signal.OTHER, {}), **kept.get(Signal.STEP, {})}
    found = objective_of(one for parts in unknown.values() for one in parts)
    if found is None:
        return
    for signal, tags in ((Signal.TRAIN_LOSS, found.train), (Signal.EVAL_LOSS, found.held_out)):
        kept[signal] = {tag: unknown[tag] for tag in tags}
    for signal in (Signal.OTHER, Signal.STEP):
        tagged = kept.get(signal, {})
        kept[signal] = {t: v for t, v in tagged.items() if t not in found.train | found.held_out}
        if not kept[signal]:
            del kept[signal]


def _add_up_validation(kept: dict[Signal, Tagged], stems: set[str]) -> None:
    """Validation by the same parts as training; where it has a total, the parts are none."""
    losses = kept.get(Signal.EVAL_LOSS, {})
    parts = {tag: found for tag, found in losses.items() if _stem(tag) in stems}
    if not parts:
        return
    kept[Signal.EVAL_LOSS] = {tag: found for tag, found in losses.items() if tag not in parts}
    kept.setdefault(Signal.LOSS_COMPONENT, {}).update(parts)
    if not kept[Signal.EVAL_LOSS]:
        del kept[Signal.EVAL_LOSS]
        if len(parts) >= 2:
            _put(kept, Signal.EVAL_LOSS, _sums(parts))


def _put(kept: dict[Signal, Tagged], signal: Signal, sums: Sequence[Series]) -> None:
    for one in sums:
        kept.setdefault(signal, {}).setdefault(one.tag, []).append(one)


def _sums(parts: Tagged) -> list[Series]:
    """Per file and prefix, the sum of the parts that it logs at the same rows."""
    groups: dict[tuple[str, str], list[Series]] = {}
    for tag, found in parts.items():
        for one in found:
            groups.setdefault((one.source, _split(tag)[0]), []).append(one)
    sums = []
    for (_, prefix), group in groups.items():
        first = group[0]
        if len(group) >= 2 and all(np.array_equal(first.step, one.step) for one in group):
            value = np.sum([one.value for one in group], axis=0)
            sums.append(replace(first, tag=f"{prefix}{SUM}", value=value, digits=None))
    return sums


def _is_part(tag: str) -> bool:
    """True for a part of the training loss: no validation, no statistic of it."""
    _, stem, evaluates = _split(tag)
    return not evaluates and bool(_PART.fullmatch(stem)) and not _STATISTIC.fullmatch(stem)


def _stem(tag: str) -> str:
    return _split(tag)[1]


def _split(tag: str) -> tuple[str, str, bool]:
    """Prefix, rest, and whether the prefix says validation."""
    found = _PREFIX.fullmatch(normalise(tag))
    if found is None:
        return "", normalise(tag), False
    return found["prefix"], found["stem"], found["eval"] is not None
