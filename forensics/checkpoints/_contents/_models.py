"""Groups the tensors of a save into models, and tells which of them is the one that is trained."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from forensics.checkpoints._base import Role, StoredTensor
from forensics.checkpoints._contents._parts import Model
from forensics.checkpoints._contents._roles import role_in_model

_MAIN = (
    *("model_state_dict", "state_dict", "model", "module", "model_state", "net", "network"),
    *("net_state_dict", "network_state_dict", "weights", "params", "app.model", "policy"),
)
"""Keys of the model that is trained, the surest first."""
_WRAPPERS = frozenset({"state_dict", "module", "model", "params", "model_state_dict"})
_NO_MODEL = (
    r"(?i:.*(?:rng|random|sampler|loader|callback|loop|metric|hparam|hyper|sched|buffer|batch|"
    r"history|losses|stats|seen|shape|config|args|generator_state|progress|optim|extra|meta).*|"
    r"opt|cfg|state|data|datamodule|epoch|step|loss|train_state|trainer)"
)
"""Keys under which tensors lie that are no weights."""


@dataclass(frozen=True)
class Found:
    """A tensor at its place in the save."""

    path: tuple[str, ...]
    tensor: StoredTensor
    role: Role | None = None
    """Where the save itself tells it."""


def as_models(
    found: Sequence[Found], *, ordered: bool
) -> tuple[tuple[Model, ...], tuple[StoredTensor, ...]]:
    """Models, the trained one first and without a label; and the tensors that are no weights."""
    by_key: dict[str, list[Found]] = {}
    for one in found:
        by_key.setdefault(one.path[0] if len(one.path) > 1 else "", []).append(one)
    main = _main(by_key)
    models: list[Model] = []
    others: list[StoredTensor] = []
    for key, members in by_key.items():
        if key != main and (not key or re.fullmatch(_NO_MODEL, key)):
            others.extend(_named(one, ".".join(one.path), Role.OTHER) for one in members)
            continue
        depth = _depth(members) if key else 0
        tensors = {}
        for one in members:
            name = ".".join(one.path[depth:]) or "tensor"
            tensors[name] = _named(one, name, one.role or role_in_model(name, one.tensor))
        models.append(Model("" if key == main else key, tensors, ordered))
    models.sort(key=lambda model: model.label != "")
    return tuple(models), tuple(others)


def _named(one: Found, name: str, role: Role) -> StoredTensor:
    return replace(one.tensor, name=name, role=role)


def _depth(members: Sequence[Found]) -> int:
    """Number of keys that lie above the names: that of the model, and wrappers inside it."""
    depth = 1
    while True:
        keys = {m.path[depth] if len(m.path) > depth + 1 else "" for m in members}
        if len(keys) > 1 or not keys <= _WRAPPERS:
            return depth
        depth += 1


def _main(by_key: dict[str, list[Found]]) -> str | None:
    """The key of the model that is trained; None where several have the same right."""
    for name in _MAIN:
        if name in by_key:
            return name
    likely = [key for key in by_key if key and not re.fullmatch(_NO_MODEL, key)]
    loose = by_key.get("", [])
    if any(one.tensor.shape for one in loose) and not likely:
        return ""
    if len(likely) == 1 and not any(len(one.tensor.shape) > 1 for one in loose):
        return likely[0]
    return "" if not likely and loose else None
