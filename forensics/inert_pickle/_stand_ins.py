"""What stands in a result for the objects that were not made."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

KEY_DEPTH = 20
"""Deepest tuple that is hashed: hashing recurses in C, without a guard."""


@dataclass(frozen=True)
class Global:
    """A name that the pickle asked to import; it was not."""

    name: str
    """Module and qualified name, such as ``torch._utils._rebuild_tensor_v2``."""


@dataclass(eq=False)
class Inert:
    """What would have been an object, had its class been imported."""

    name: str
    args: tuple[Any, ...] = ()
    state: Any = None
    items: dict[Any, Any] = field(default_factory=dict)
    """What the pickle would have set by key."""
    elements: list[Any] = field(default_factory=list)
    """What the pickle would have appended or added."""


Constructor = Callable[..., Any]
"""A function of ours that stands in for a global; it must not trust its arguments."""


def as_key(value: Any, depth: int = 0) -> Any:
    """Return ``value``, for it is safe to hash.

    Raises:
        ValueError: It is a tuple nested so deep that hashing it could overflow the C stack.
    """
    if isinstance(value, tuple):
        if depth > KEY_DEPTH:
            raise ValueError("a key nests too deep")
        for part in value:
            as_key(part, depth + 1)
    return value


def _mapping(pairs: Any = ()) -> dict[Any, Any]:
    source = pairs.items() if isinstance(pairs, dict) else pairs
    return {as_key(key): value for key, value in source}


def _encode(text: str, encoding: str = "utf-8", *_: Any) -> bytes:
    if encoding not in ("latin1", "latin-1", "utf-8", "ascii"):
        raise ValueError(encoding)
    return text.encode(encoding)


PLAIN_CONSTRUCTORS: dict[str, Constructor] = {
    "collections.OrderedDict": _mapping,
    "collections.Counter": _mapping,
    "collections.defaultdict": lambda *_: {},
    "collections.deque": lambda items=(), *_: list(items),
    "builtins.dict": _mapping,
    "builtins.list": lambda items=(): list(items),
    "builtins.set": lambda items=(): list(items),
    "builtins.frozenset": lambda items=(): list(items),
    "builtins.tuple": lambda items=(): tuple(items),
    "builtins.bytearray": lambda data=b"", *_: data if isinstance(data, bytes) else b"",
    "_codecs.encode": _encode,
}
"""Sets become lists, whose elements need not be hashable."""
