"""Matches an optimizer's numbered parameters with a model's named ones, by order and shape."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from forensics.checkpoints._base import Key
from forensics.checkpoints._param_names._custom import ORDERS, without_numbers
from forensics.checkpoints._param_names._groupings import Candidate, Shape, groupings

_Pairs = dict[Key, str]


@dataclass(frozen=True)
class Match:
    """Parameter of the optimizer -> name."""

    names: Mapping[Key, str]
    ambiguous: tuple[Key, ...] = ()
    """Of these, the names could as well be exchanged among each other."""


def match(
    groups: Sequence[Sequence[Key]],
    shapes: Mapping[Key, Shape],
    candidates: Sequence[Candidate],
    *,
    ordered: bool,
) -> Match | None:
    """Find the names.

    Args:
        groups: Parameters of each group of the optimizer, in its order.
        shapes: Shape of a parameter, where its state shows it; one never stepped has none.
        candidates: The model's parameters, tied ones once.
        ordered: True where they are in the model's own order.

    Returns:
        None where the optimizer is not that of this model.
    """
    filled = [list(group) for group in groups if group]
    found = _in_order(filled, shapes, candidates) if ordered else None
    if found is not None:
        return found
    for place in ORDERS:
        usual = sorted(candidates, key=lambda one: place(one.name))
        pairs = _one_to_one(filled, shapes, usual)
        if pairs is not None:
            return Match(pairs, tuple(_interchangeable(filled, shapes, pairs)))
    usual = sorted(candidates, key=lambda one: ORDERS[0](one.name))
    found = _by_shape(filled, shapes, usual)
    return found if 2 * len(found.names) > len(shapes) else None


def _interchangeable(
    groups: Sequence[Sequence[Key]], shapes: Mapping[Key, Shape], names: _Pairs
) -> Iterator[Key]:
    """Parameters that share group and shape with one of another part of the layer."""
    for group in groups:
        alike: dict[Shape, list[Key]] = {}
        for key in group:
            if key in shapes:
                alike.setdefault(shapes[key], []).append(key)
        for keys in alike.values():
            if len({without_numbers(names[key]) for key in keys}) > 1:
                yield from keys


def _in_order(
    groups: Sequence[Sequence[Key]],
    shapes: Mapping[Key, Shape],
    candidates: Sequence[Candidate],
) -> Match | None:
    pairs = _one_to_one(groups, shapes, candidates)
    if pairs is not None:
        return Match(pairs)
    for grouping in groupings(candidates, [len(group) for group in groups]):
        spread = [_spread(g, shapes, c) for g, c in zip(groups, grouping, strict=True)]
        found = [one for one in spread if one is not None]
        if len(found) == len(groups):
            names = {k: name for one in found for k, name in one.names.items()}
            return Match(names, tuple(k for one in found for k in one.ambiguous))
    return None


def _one_to_one(
    groups: Sequence[Sequence[Key]], shapes: Mapping[Key, Shape], candidates: Sequence[Candidate]
) -> _Pairs | None:
    """The first grouping under which every number and shape agrees."""
    for grouping in groupings(candidates, [len(group) for group in groups]):
        pairs = [_exactly(g, shapes, c) for g, c in zip(groups, grouping, strict=True)]
        if all(pair is not None for pair in pairs):
            return {k: name for pair in pairs for k, name in (pair or {}).items()}
    return None


def _exactly(
    keys: Sequence[Key], shapes: Mapping[Key, Shape], candidates: Sequence[Candidate]
) -> _Pairs | None:
    """One to one; None where numbers or shapes disagree."""
    if len(keys) != len(candidates):
        return None
    pairs = list(zip(keys, candidates, strict=True))
    if any(shapes.get(key, one.shape) != one.shape for key, one in pairs):
        return None
    return {key: one.name for key, one in pairs}


def _spread(
    keys: Sequence[Key], shapes: Mapping[Key, Shape], candidates: Sequence[Candidate]
) -> Match | None:
    """In order, over some of the candidates: the others were frozen.

    Each is given the first place that it can have; it is ambiguous unless that is the last too.
    """
    stepped = [key for key in keys if key in shapes]
    first = _earliest(stepped, shapes, candidates)
    last = _earliest(stepped[::-1], shapes, candidates[::-1])
    if first is None or last is None or not stepped:
        return None
    last = [len(candidates) - 1 - place for place in last[::-1]]
    names = {k: candidates[place].name for k, place in zip(stepped, first, strict=True)}
    loose = [k for k, a, b in zip(stepped, first, last, strict=True) if a != b]
    return Match(names, tuple(loose))


def _earliest(
    keys: Sequence[Key], shapes: Mapping[Key, Shape], candidates: Sequence[Candidate]
) -> list[int] | None:
    places, at = [], 0
    for key in keys:
        while at < len(candidates) and candidates[at].shape != shapes[key]:
            at += 1
        if at == len(candidates):
            return None
        places.append(at)
        at += 1
    return places


def _by_shape(
    groups: Sequence[Sequence[Key]],
    shapes: Mapping[Key, Shape],
    candidates: Sequence[Candidate],
) -> Match:
    """The grouping under which most parameters find a name of their shape."""
    best = _alike([key for group in groups for key in group], shapes, candidates)
    for grouping in groupings(candidates, [len(group) for group in groups]):
        found = [_alike(g, shapes, c) for g, c in zip(groups, grouping, strict=True)]
        names = {k: name for one in found for k, name in one.names.items()}
        if len(names) >= len(best.names) and len(names) > 0:
            ambiguous = tuple(k for one in found for k in one.ambiguous)
            if len(names) > len(best.names) or len(ambiguous) < len(best.ambiguous):
                best = Match(names, ambiguous)
    return best


def _alike(
    keys: Sequence[Key], shapes: Mapping[Key, Shape], candidates: Sequence[Candidate]
) -> Match:
    """Parameters and candidates of one shape are paired in order, where there are as many."""
    by_shape: dict[Shape, tuple[list[Key], list[str]]] = {}
    for key in keys:
        if key in shapes:
            by_shape.setdefault(shapes[key], ([], []))[0].append(key)
    for one in candidates:
        if one.shape in by_shape:
            by_shape[one.shape][1].append(one.name)
    names: _Pairs = {}
    ambiguous: list[Key] = []
    for numbered, named in by_shape.values():
        if len(numbered) != len(named):
            continue
        names.update(zip(numbered, named, strict=True))
        if len({without_numbers(name) for name in named}) > 1:
            ambiguous.extend(numbered)
    return Match(names, tuple(ambiguous))
