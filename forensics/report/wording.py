"""How numbers, steps and texts of a run are written for a reader: no judgement is made here."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forensics import phrasing
from forensics.run import Axis

_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""Control characters, overrides of the writing direction and halves of surrogate pairs."""
_IRREGULAR = {"index": "indices", "entry": "entries", "batch": "batches", "loss": "losses"}
NBSP = "\u00a0"


def clean(text: str) -> str:
    r"""Make characters visible that could act on a page, a terminal or a file name.

    A tab becomes a space; a line break stays; the rest is shown as ``\x1b`` or ``\u202e``.
    """
    return _UNSAFE.sub(_escaped, text.replace("\r\n", "\n").replace("\t", " "))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def one_line(text: str, limit: int = 400) -> str:
    """``text`` cleaned, on one line, and cut to ``limit`` characters with an ellipsis."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def number(value: float, digits: int = 4) -> str:
    """A number in ``digits`` significant digits: ``1,234``, ``0.0123``, ``2e-5``, ``NaN``."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else _huge(value, digits)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    if value != 0 and not 1e-3 <= abs(value) < 1e7:
        return _scientific(value, digits)
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def _huge(value: int, digits: int) -> str:
    """An integer that may exceed every float: scaled by whole powers of ten first."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    exponent = max(int(size.bit_length() * math.log10(2)) - 17, 0)
    mantissa, _, rest = _scientific(float(size // 10**exponent), digits).partition("e")
    return f"{sign}{mantissa}e{int(rest) + exponent}"


def _scientific(value: float, digits: int) -> str:
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent)}"


def setting(value: Any) -> str:
    """The value of a setting, whatever its type, on one line."""
    value = value.item() if hasattr(value, "item") else value
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value) if abs(value) < 10_000 else number(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return one_line(", ".join(f"{key}: {setting(item)}" for key, item in value.items()) or "{}")
    if isinstance(value, (list, tuple, set, frozenset)):
        return one_line(", ".join(setting(item) for item in value) or "none")
    return one_line(str(value)) or "''"


def plural(count: int, noun: str) -> str:
    """``1 step``, ``1,240 steps``, ``no steps``; the last word of ``noun`` is made plural."""
    head, _, last = noun.rpartition(" ")
    many = _IRREGULAR.get(last, last + "s")
    words = noun if count == 1 else f"{head} {many}".strip()
    return f"{count:,} {words}" if count else f"no {words}"


def percent(share: float) -> str:
    """A share of 0 to 1 as ``84 %``; never rounded to certainty or to nothing."""
    if not math.isfinite(share):
        return "unknown"
    if 0 < share < 0.01:
        return f"<1{NBSP}%"
    if 0.99 < share < 1:
        return f">99{NBSP}%"
    return f"{share * 100:.0f}{NBSP}%"


def hours(value: float) -> str:
    """A duration in the unit that suits it."""
    if value < 1 / 60:
        return f"{value * 3600:.0f}{NBSP}s"
    if value < 1:
        return f"{value * 60:.0f}{NBSP}min"
    return f"{value:,.1f}{NBSP}h" if value < 100 else f"{value:,.0f}{NBSP}h"


def file_size(size: int) -> str:
    """A number of bytes as ``1.2 GB`` (powers of ten)."""
    amount = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f}{NBSP}{unit}" if unit == "B" else f"{amount:.3g}{NBSP}{unit}"
        amount /= 1000
    return f"{amount:,.3g}{NBSP}TB" if amount < 1000 else f"{amount:,.0f}{NBSP}TB"


def unit(axis: Axis | None = None) -> str:
    """What a run counts by, in the singular; without an axis, the run that is being worded."""
    return phrasing.unit() if axis is None else axis.noun


def at(step: int, axis: Axis | None = None) -> str:
    """``step 1,240``, or what else the run counts by."""
    return f"{unit(axis)}{NBSP}{step:,}"


def stretch(amount: int) -> str:
    """``1,240 steps``, or what else the run that is being worded counts by."""
    return plural(amount, phrasing.unit())


def step_ranges(steps: Iterable[int]) -> list[str]:
    """Steps in order, neighbours drawn together: ``12``, ``15 to 19``."""
    spans: list[list[int]] = []
    for step in sorted(set(steps)):
        if spans and step == spans[-1][1] + 1:
            spans[-1][1] = step
        else:
            spans.append([step, step])
    return [f"{a:,}" if a == b else f"{a:,} to {b:,}" for a, b in spans]


def step_list(steps: Sequence[int], shown: int = 6) -> str:
    """``12, 15 to 19 and 3 more``; '' where there are none."""
    ranges = step_ranges(steps)
    if len(ranges) > shown:
        return f"{', '.join(ranges[:shown])} and {len(ranges) - shown:,} more"
    return listing(ranges)


def listing(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def sentence_case(text: str) -> str:
    """The first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """A clause as a sentence: first letter large (unless it is code), a full stop at the end."""
    text = text.strip()
    if not text:
        return ""
    first = text.partition(" ")[0]
    text = sentence_case(text) if first.rstrip(",;:").isalpha() and first.islower() else text
    return f"{text}." if text[-1].isalnum() or text[-1] in ")%'\"`" else text


def words(identifier: str) -> str:
    """``learning_rate_too_high`` as ``learning rate too high``."""
    return identifier.replace("_", " ")
