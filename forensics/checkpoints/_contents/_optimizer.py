"""Recognises the state dicts of optimizers, in the shapes in which they are saved."""

from collections.abc import Iterator, Mapping
from typing import Any

from forensics.checkpoints._base import Key, StoredTensor
from forensics.checkpoints._contents._masters import masters_beside
from forensics.checkpoints._contents._parts import OptimizerState, ParamGroup
from forensics.inert_pickle import plain

_SLOTS = ("step", "exp_avg", "exp_avg_sq", "momentum_buffer", "max_exp_avg_sq", "square_avg")


def is_optimizer(value: Any) -> bool:
    """True for what ``Optimizer.state_dict()`` returns, nested or flattened."""
    if not isinstance(value, dict):
        return False
    state = value.get("state")
    if isinstance(state, dict):
        return isinstance(value.get("param_groups"), (list, dict)) or _has_slots(state)
    return _is_flat(value)


def _has_slots(state: Mapping[Any, Any]) -> bool:
    first = next(iter(state.values()), None)
    return isinstance(first, dict) and any(str(name) in _SLOTS for name in first)


def _is_flat(value: Mapping[Any, Any]) -> bool:
    """True for ``state.<parameter>.<slot>`` as keys, as a distributed save flattens them."""
    marks = [str(k).startswith(("state.", "param_groups.")) for k in value]
    return bool(marks) and all(marks) and any(_flat_slot(str(k)) for k in value)


def _flat_slot(key: str) -> tuple[str, str] | None:
    name, _, slot = key.removeprefix("state.").rpartition(".")
    return (name, slot) if name and slot in _SLOTS and key.startswith("state.") else None


def read_optimizer(
    value: Mapping[Any, Any], label: str, around: Mapping[Any, Any]
) -> OptimizerState:
    """Read a state dict for which `is_optimizer` holds.

    Args:
        value: The state dict.
        label: Where it was.
        around: The dict it was found in; wrappers for mixed precision keep float32 copies there.
    """
    if not isinstance(value.get("state"), dict):
        value = _unflattened(value)
    groups = tuple(_groups(value.get("param_groups", ())))
    slots = {_key(k): _flat(v) for k, v in value["state"].items() if isinstance(v, dict)}
    for key, copy in masters_beside(around, groups, slots).items():
        slots[key] = {**slots.get(key, {}), "fp32_param": copy}
    return OptimizerState(label, groups, slots)


def _key(key: Any) -> Key:
    if isinstance(key, int):
        return key
    text = str(key)
    return int(text) if text.isdecimal() and len(text) < 10 else text


def _flat(slots: Mapping[Any, Any]) -> dict[str, Any]:
    """Slots, with those that lie one level deeper (8-bit optimizers under FSDP) lifted out."""
    lifted: dict[str, Any] = {}
    for name, held in slots.items():
        if isinstance(held, dict):
            lifted.update({str(k): v for k, v in held.items()})
        else:
            lifted[str(name)] = held
    return lifted


def _groups(groups: Any) -> Iterator[ParamGroup]:
    if isinstance(groups, dict):
        if not any(isinstance(g, dict) and "params" in g for g in groups.values()):
            yield from _groups_by_name(groups)  # as a distributed save flattens them
            return
        groups = groups.values()
    for group in groups:
        if not isinstance(group, dict):
            continue
        params, names = _list(group.get("params")), _list(group.get("param_names"))
        keys = tuple(_key(k) for k in params if isinstance(k, (int, str)))
        settings = {k: v for k, v in group.items() if k not in ("params", "param_names")}
        yield ParamGroup(keys, _settings(settings), tuple(map(str, names)))


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _groups_by_name(groups: Mapping[Any, Any]) -> Iterator[ParamGroup]:
    """Parameters with the same settings are one group again."""
    alike: dict[str, tuple[Mapping[str, Any], list[Key]]] = {}
    for name, held in groups.items():
        if isinstance(held, dict):
            settings = _settings(held)
            alike.setdefault(repr(settings), (settings, []))[1].append(_key(name))
    for settings, keys in alike.values():
        yield ParamGroup(tuple(keys), settings)


def _settings(group: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Plain values; a tensor among them is left for its number to be read."""
    return {
        str(key): value if isinstance(value, StoredTensor) else plain(value, 6, 1000)
        for key, value in group.items()
    }


def _unflattened(value: Mapping[Any, Any]) -> dict[str, Any]:
    state: dict[str, dict[str, Any]] = {}
    groups: dict[str, dict[str, Any]] = {}
    for key, held in value.items():
        kind, _, rest = str(key).partition(".")
        name, _, last = rest.rpartition(".")
        (state if kind == "state" else groups).setdefault(name, {})[last] = held
    return {"state": state, "param_groups": groups}
