"""How numbers are written in logs, and what is glued to them."""

import re

NUMBER = (
    r"(?:[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)"  # 1,234,567.8
    r"|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
    r"|[-+]?(?:[nN][aA][nN]|[iI]nf(?:inity)?|INF(?:INITY)?))"
)
UNIT = r"(?:%|[A-Za-zµ]+(?:/[A-Za-z]+)*)"

_DIGIT = re.compile(r"\d")
_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
_TIMES = {"ms", "us", "µs", "ns", "s", "sec", "secs", "seconds", "min", "mins", "m", "h", "hr"}
_SIZES = {f"{p}{b}" for p in ("", "K", "M", "G", "T", "Ki", "Mi", "Gi", "Ti") for b in ("B", "b")}
_UNITS = frozenset({"", "%", *_SCALES, *_TIMES, *_SIZES})


def is_unit(text: str) -> bool:
    """Whether letters glued to a number are a unit (``ms``, ``GiB``, ``it/s``) and not a word."""
    return text in _UNITS or "/" in text


def scale_of(unit: str) -> float | None:
    """The factor of a unit that only counts (``1.05M`` tokens); None for a unit of measure."""
    return _SCALES.get(unit)


def to_float(text: str) -> float:
    """Read a number as logged: ``6,543``, ``1.5E+00``, ``.5``, ``nan``, ``-Infinity``.

    Raises:
        ValueError: It is not a number.
    """
    return float(text.replace(",", "") if "," in text else text)


def tail_of(text: str) -> str:
    """How a number was printed after its integer part: ``9.12E+00`` gives ``.00E+00``."""
    return _DIGIT.sub("0", text.lstrip("+-0123456789,"))
