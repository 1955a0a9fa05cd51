"""Puts the flat names of a distributed checkpoint back into the state dict that was saved."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_SLOT = r"(?:step|exp_avg(?:_sq)?|max_exp_avg_sq|momentum_buffer|square_avg|sum)"
_PATTERNS = (
    # Megatron: optimizer.state.exp_avg.decoder.layers.weight
    (
        re.compile(
            r"(?:chained_\d+\.)?(optim\w*)\.state\.(exp_avg|exp_avg_sq|fp32_param|param)\.(.+)"
        ),
        (1, "state", 3, 2),
    ),
    (re.compile(rf"(\w*optim\w*)\.state\.(.+)\.({_SLOT})"), (1, "state", 2, 3)),
    (re.compile(r"(\w*optim\w*)\.param_groups\.(.+)\.(\w+)"), (1, "param_groups", 2, 3)),
    (re.compile(r"(model|module|state_dict|net)\.(.+)"), (1, 2)),
)
_Path = tuple[str | int, ...]


def nested(values: Mapping[str, Any], paths: Mapping[str, _Path]) -> dict[str | int, Any]:
    """The state dict.

    Args:
        values: By full name.
        paths: Full name -> path, where it was noted; else it is read from the name.
    """
    root: dict[str | int, Any] = {}
    for name, value in values.items():
        *above, last = _path(name, paths.get(name, ()))
        place = root
        for key in above:
            inner = place.setdefault(key, {})
            if not isinstance(inner, dict):  # two names that cannot both be: keep the first
                break
            place = inner
        else:
            place.setdefault(last, value)
    return root


def _path(name: str, noted: _Path) -> _Path:
    if len(noted) > 1:
        return noted
    for pattern, order in _PATTERNS:
        found = pattern.fullmatch(name)
        if found:
            return tuple(_parts(found, order))
    return (name,)


def _parts(found: "re.Match[str]", order: tuple[str | int, ...]) -> Iterator[str]:
    for part in order:
        yield found[part] if isinstance(part, int) else part
