"""Turns settings as people write them into values: numbers in strings, flags, pairs.

Each parser returns None for what it does not understand; nothing is guessed.
"""

import ast
import math
import re
from typing import Any

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")


def number(raw: Any) -> float | None:
    """A finite number, written as such, as text (``1e-4`` in YAML) or as the first of a list."""
    if isinstance(raw, (list, tuple)) and raw:
        return number(raw[0])
    if isinstance(raw, bool) or not isinstance(raw, (int, float, str)):
        return None
    if isinstance(raw, str) and _THOUSANDS.fullmatch(raw.strip()):
        raw = raw.replace(",", "")
    try:
        value = float(raw)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def not_negative(raw: Any) -> float | None:
    """A number at or above 0."""
    value = number(raw)
    return value if value is not None and value >= 0 else None


def positive(raw: Any) -> float | None:
    """A number above 0; frameworks write -1 and 0 for 'not set'."""
    value = number(raw)
    return value if value is not None and value > 0 else None


def count(raw: Any) -> int | None:
    """A whole number above 0."""
    value = positive(raw)
    return int(value) if value is not None and value == int(value) else None


def whole(raw: Any) -> int | None:
    """A whole number at or above 0."""
    value = not_negative(raw)
    return int(value) if value is not None and value == int(value) else None


def share(raw: Any) -> float | None:
    """A number in (0, 1)."""
    value = positive(raw)
    return value if value is not None and value < 1 else None


def flag(raw: Any) -> bool | None:
    """A truth value, also as text or as 0 and 1."""
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, (int, float)) and raw in (0, 1):
        return bool(raw)
    if isinstance(raw, str):
        word = raw.strip().lower()
        return True if word in _TRUE else False if word in _FALSE else None
    return None


def text(raw: Any) -> str | None:
    """A name: not empty, no number, no truth value."""
    if isinstance(raw, (list, tuple)) and len(raw) == 1:
        return text(raw[0])
    if not isinstance(raw, str) or number(raw) is not None or flag(raw) is not None:
        return None
    word = raw.strip()
    return word[:200] if word.lower() not in ("", "none", "null", "auto", "default") else None


def pair(raw: Any) -> tuple[float, float] | None:
    """Two numbers, as a list or written out: ``(0.9, 0.98)``."""
    if isinstance(raw, str):
        try:
            raw = ast.literal_eval(raw.strip()[:100])
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    if not isinstance(raw, (list, tuple)) or len(raw) < 2:
        return None
    first, second = not_negative(raw[0]), not_negative(raw[1])
    return None if first is None or second is None else (first, second)


def threshold(raw: Any) -> float | None:
    """A clipping threshold: nothing and 0 mean that clipping is off."""
    if raw is None or (isinstance(raw, str) and raw.strip().lower() in ("none", "null")):
        return 0.0
    value = number(raw)
    return None if value is None else max(value, 0.0)
