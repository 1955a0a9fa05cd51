"""Where a tensor lies between input and output, by its name."""

import re
from collections.abc import Iterable, Mapping, Sequence

_NUMBER = re.compile(r"(?<![A-Za-z0-9])(\d+)(?=[._/]|$)")
_INPUT = re.compile(
    r"embed|(?:^|[._/])(?:wte|wpe|tokens?|positions?|stem|patch\w*|conv1)[._/]", re.I
)
_OUTPUT = re.compile(
    r"lm_head|embed_out|(?:^|[._/])(?:head|output|classifier|score|fc_out|to_logits)[._/]", re.I
)
_LAYER = re.compile(r"(?:^|[._/])(\w*(?:layers?|blocks?|h|stages?|resblocks))[._/](\d+)[._/]", re.I)
LONGEST = 22


def by_depth(names: Iterable[str], most: int) -> list[tuple[str, frozenset[str]]]:
    """Groups of tensors from input to output, each with a label.

    Names with a layer's number are one group a layer; others one a module. Where that makes more
    than ``most`` groups, neighbours are put together.

    Args:
        names: Of all tensors, in the order in which they are stored.
        most: How many groups can be shown.
    """
    groups: dict[str, set[str]] = {}
    places: dict[str, tuple[int, int, int, int]] = {}
    for at, name in enumerate(dict.fromkeys(names)):
        label, place = _placed(name, at)
        groups.setdefault(label, set()).add(name)
        places[label] = min(places.get(label, place), place)
    order = sorted(groups, key=places.__getitem__)
    return [_joined(part, groups) for part in _parts(order, most)]


def _placed(name: str, at: int) -> tuple[str, tuple[int, int, int, int]]:
    """Label of a tensor's group, and a key that sorts it: before, among or behind the layers."""
    layer = _LAYER.search(name)
    if layer:
        kind = 1 if re.search("dec", name[: layer.end()], re.I) else 0
        prefix = "" if kind == 0 else "decoder "
        return f"{prefix}layer {int(layer[2])}", (1, kind, int(layer[2]), 0)
    module = name.rpartition(".")[0] or name
    if _OUTPUT.search(name):
        return module, (3, 0, 0, at)
    if _INPUT.search(name):
        return module, (0, 0, 0, at)
    number = _NUMBER.search(name)
    if number:
        return module, (1, 0, int(number[1]), at)
    return module, (2, 0, 0, at)


def _parts(order: Sequence[str], most: int) -> Iterable[Sequence[str]]:
    size = -(-len(order) // most) if order else 1
    return (order[i : i + size] for i in range(0, len(order), size))


def _joined(part: Sequence[str], groups: Mapping[str, set[str]]) -> tuple[str, frozenset[str]]:
    names = frozenset().union(*(groups[label] for label in part))
    if len(part) == 1:
        return _short(part[0]), names
    first, last = part[0], part[-1]
    if first.startswith("layer ") and last.startswith("layer "):
        return f"layers {first[6:]}–{last[6:]}", names
    return f"{_short(first, 10)} … {_short(last, 10)}", names


def _short(label: str, most: int = LONGEST) -> str:
    """The end of a long name tells more than its beginning."""
    return label if len(label) <= most else "…" + label[1 - most :]
