"""Cells and strings to numbers: every spelling that loggers use, and nothing that is not a number.

Three answers are kept apart: a number (NaN and infinity included), *not logged* (an empty cell,
``NA``, ``null``), and text. A point that was not logged never becomes a NaN.
"""

import re
from datetime import UTC, datetime

NOT_LOGGED = frozenset(
    {"", "na", "n/a", "<na>", "#n/a", "null", "none", "nil", "-", "--", "—", "–", "no log", "..."}
)
"""Spellings, lower case, of a quantity that was not logged."""

_WORDS = {"true": 1.0, "false": 0.0, "∞": float("inf"), "+∞": float("inf"), "-∞": -float("inf")}
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+(?:[eE][+-]?\d+)?")
_SCALED = re.compile(rf"({_NUMBER})\s?([KMBGT])")
_SCALE = {"K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}
_FRACTION = re.compile(r"(\d+)\s*/\s*(\d+)")
_WRAPPED = re.compile(
    rf"(?:tensor|array|Array|\w*(?:np|numpy|jnp)\.\w+)\(\[?\s*({_NUMBER}|[+-]?(?:nan|inf))[\s\],).].*"
)
_COUNTED = re.compile(r"(?:epoch|step|iter(?:ation)?)[\s:#_]*(\d+)(?:\s*/\s*\d+)?", re.IGNORECASE)
_EXPONENT_D = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))[dD]([+-]?\d+)")


def is_not_logged(text: str) -> bool:
    """True where a cell says that its quantity was not logged."""
    return text.strip(" '\"").lower() in NOT_LOGGED


def parse_number(text: str, decimal_comma: bool = False) -> float | None:
    """The number that a cell spells, or None where it is text or not logged.

    Beyond what ``float`` takes: ``93.5%`` (93.5), ``1,234.5``, ``1.05M``, ``10/12`` (10.0: a
    position and its total), ``Epoch 3`` (3.0), ``tensor(2.3, device='cuda:0')``,
    ``np.float64(2.3)``, and with ``decimal_comma`` ``2,345`` and ``1.234,5``.
    """
    if decimal_comma and _DECIMAL_COMMA.fullmatch(text.strip()):
        text = text.strip().replace(".", "").replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return _unusual(text.strip())


def _unusual(text: str) -> float | None:
    if not text or text.lower() in NOT_LOGGED:
        return None
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text[0] in "'\"" and text[0] == text[-1]:
        return parse_number(text[1:-1]) if len(text) > 2 else None
    if text.endswith("%"):
        return parse_number(text[:-1]) if len(text) > 1 else None
    if _THOUSANDS.fullmatch(text):
        return float(text.replace(",", ""))
    if found := _SCALED.fullmatch(text):
        return float(found[1]) * _SCALE[found[2]]
    if found := _FRACTION.fullmatch(text) or _WRAPPED.fullmatch(text) or _COUNTED.fullmatch(text):
        return float(found[1])
    if found := _EXPONENT_D.fullmatch(text):
        return float(f"{found[1]}e{found[2]}")
    return None


def parse_total(text: str) -> int | None:
    """The 12 of ``10/12``, or None."""
    found = _FRACTION.fullmatch(text.strip())
    return int(found[2]) if found else None


def parse_time(text: str) -> float | None:
    """Seconds since the epoch of a written date and time, or None; without a zone it is UTC."""
    text = text.strip().strip("[]").replace("/", "-").replace(",", ".")
    if not (text[:4].isdigit() and text[4:5] == "-"):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
