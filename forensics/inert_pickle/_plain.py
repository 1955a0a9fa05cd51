"""Copies what came out of a pickle into plain, bounded values."""

from typing import Any

from forensics.inert_pickle._stand_ins import Global, Inert

MAX_DEPTH = 32
MAX_VALUES = 100_000
_SCALARS = (str, int, float, bool, bytes, bytearray, type(None))


def plain(value: Any, max_depth: int = MAX_DEPTH, max_values: int = MAX_VALUES) -> Any:
    """Copy ``value`` with dicts, lists and scalars alone; what lies beyond the bounds is None.

    An object is shown by its state where it has one; by its only argument, as an enumeration's
    member is; else by its arguments. A global is shown by its name.
    """
    budget = [max_values]
    return _copy(value, max_depth, budget)


def _copy(value: Any, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0 or depth < 0:
        return None
    if isinstance(value, Global):
        return value.name
    if isinstance(value, Inert):
        return _copy(_shown(value), depth - 1, budget)
    if isinstance(value, dict):
        return {_key(k): _copy(v, depth - 1, budget) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copy(v, depth - 1, budget) for v in value]
    return value if isinstance(value, _SCALARS) else None


def _key(key: Any) -> str:
    return str(key) if isinstance(key, _SCALARS) else getattr(key, "name", type(key).__name__)


def _shown(value: Inert) -> Any:
    if isinstance(value.state, dict):
        return value.state
    if value.name.startswith("pathlib.") and all(isinstance(a, str) for a in value.args):
        return "/".join(value.args).replace("//", "/")
    if value.items or value.elements:
        return value.items or value.elements
    return value.args[0] if len(value.args) == 1 else list(value.args)
